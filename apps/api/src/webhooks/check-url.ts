import { isIP } from 'node:net'
import { resultWithin } from '@sandyard/kit/async/within'
import type { LookupHost } from '../sandboxes/network/resolve-egress-proxy.ts'
import { invalidWebhook } from './webhook-errors.ts'
import type { TargetAddresses } from './target-addresses.ts'

const LOOKUP_TIMEOUT_MS = 5000
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:'])

export interface TargetParts {
  readonly targets: TargetAddresses
  readonly lookupHost: LookupHost
}

/**
 * The URL of a webhook in its normal form. A name with a closed address is refused early for a clear answer; it is looked up again before each attempt,
 * since names change. A name without an address is accepted.
 *
 * @throws AppError `invalid_argument`
 */
export async function checkUrl(text: string, { targets, lookupHost }: TargetParts): Promise<string> {
  const url = parseTarget(text)
  if (url === undefined) throw invalidWebhook('the url must be http or https, with a host and without user information')
  const host = targetHost(url)
  const addresses =
    isIP(host) === 0
      ? await resultWithin(
          LOOKUP_TIMEOUT_MS,
          lookupHost(host).catch(() => []),
        )
      : [host]
  if (addresses?.some((address) => !targets.isOpen(address)) === true) throw invalidWebhook('the address of the url is not public')
  return url.href
}

/** Undefined for text that no delivery can be sent to. */
export function parseTarget(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !SCHEMES.has(url.protocol) || url.hostname === '' || url.username !== '' || url.password !== '') return undefined
  url.hash = ''
  return url
}

/** The name or the address, without brackets. */
export function targetHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
