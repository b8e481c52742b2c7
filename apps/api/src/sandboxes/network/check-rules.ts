import type { SandboxNetworkRules } from '@sandyard/api-contract/sandboxes/network'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isOlderVersion } from '../../daemon/daemon-version.ts'
import { isStorable } from '../../text/is-storable.ts'
import { shorten } from '../../text/shorten.ts'
import { quote } from '../sandbox-errors.ts'
import { readSecretNames } from './placeholders.ts'

const FIRST_VERSION = '0.5.13'
const MAX_DOMAINS = 10
const MAX_DOMAIN_BYTES = 128
const MAX_HEADERS = 20
const MAX_NAME_BYTES = 64
const MAX_VALUE_BYTES = 2048
const MAX_SECRETS = 32
/** A DNS name, with a wildcard as its first label or without. */
const DOMAIN = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** A tab is allowed, other control characters are not. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0A-\x1F\x7F]/

/**
 * Checks the header rules of a network.
 *
 * @param envdVersion - that of the build; undefined when unknown
 * @throws AppError `invalid_argument` with the texts of control-plane.md 18.5
 */
export function checkRules(rules: SandboxNetworkRules = {}, envdVersion: string | undefined): void {
  const domains = Object.keys(rules)
  if (domains.length === 0) return
  if (isOlderVersion(envdVersion ?? '0.0.0', FIRST_VERSION)) {
    throw refused(
      `network transform rules are not supported; template must be rebuilt. Template envd version is ${envdVersion ?? ''}, must be at least ${FIRST_VERSION}`,
    )
  }
  if (domains.length > MAX_DOMAINS) throw refused(`Network rules can have at most ${MAX_DOMAINS} domains.`)
  const seen = new Set<string>()
  for (const [domain, transforms] of Object.entries(rules)) {
    checkDomain(domain, transforms)
    // Domains do not differ by case, so these would be two rules of one.
    if (seen.has(domain.toLowerCase())) throw refused(`Domain ${quote(domain)} can have at most 1 transform rule.`)
    seen.add(domain.toLowerCase())
  }
}

function checkDomain(domain: string, transforms: SandboxNetworkRules[string]): void {
  const named = quote(shorten(domain))
  if (domain === '') throw refused('Rule domain must not be empty.')
  if (Buffer.byteLength(domain) > MAX_DOMAIN_BYTES) {
    throw refused(`Rule domain ${named} exceeds maximum length of ${MAX_DOMAIN_BYTES} characters.`)
  }
  if (!DOMAIN.test(domain)) throw refused(`Rule domain ${named} is not a valid domain name.`)
  if (transforms.length > 1) throw refused(`Domain ${named} can have at most 1 transform rule.`)
  const headers = Object.entries(transforms[0]?.transform?.headers ?? {})
  if (headers.length > MAX_HEADERS) throw refused(`Domain ${named} can have at most ${MAX_HEADERS} headers per rule.`)
  for (const [name, value] of headers) checkHeader(named, name, value)
  const secrets = new Set(headers.flatMap(([, value]) => readSecretNames(value)))
  if (secrets.size > MAX_SECRETS) throw refused(`Rule domain ${named} references more than ${MAX_SECRETS} secrets.`)
}

function checkHeader(domain: string, header: string, value: string): void {
  const name = quote(shorten(header))
  if (header === '') throw refused(`Header name in rule for domain ${domain} must not be empty.`)
  if (!TOKEN.test(header)) throw refused(`Header name ${name} in rule for domain ${domain} must contain only valid HTTP token characters.`)
  if (Buffer.byteLength(header) > MAX_NAME_BYTES) {
    throw refused(`Header name ${name} in rule for domain ${domain} exceeds maximum length of ${MAX_NAME_BYTES} characters.`)
  }
  if (CONTROL.test(value) || !isStorable(value))
    throw refused(`Value for header ${name} in rule for domain ${domain} contains invalid characters.`)
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES) {
    throw refused(`Value for header ${name} in rule for domain ${domain} exceeds maximum length of ${MAX_VALUE_BYTES} characters.`)
  }
}

function refused(message: string): AppError {
  return new AppError('invalid_argument', message)
}
