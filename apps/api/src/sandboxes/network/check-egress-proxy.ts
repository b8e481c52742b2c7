import { X509Certificate } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { SandboxEgressProxyConfig } from '@sandyard/api-contract/sandboxes/network'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isStorable } from '../../text/is-storable.ts'
import { isAddress } from '@sandyard/kit/net/addresses'
import { isInternal } from './internal-addresses.ts'

const MAX_CREDENTIAL_BYTES = 255
const MAX_SERVER_NAME_LENGTH = 253
const MAX_CA_BYTES = 8192
const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i
const PEM = /^\s*-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----\s*$/

/**
 * Checks what can be said of an egress proxy without a lookup; `resolveEgressProxy` does the rest.
 *
 * @throws AppError `invalid_argument` (control-plane.md 18.6, clients-python-2.63.md 6); the details are ours
 */
export function checkEgressProxy(proxy: SandboxEgressProxyConfig | null | undefined): void {
  if (proxy === null || proxy === undefined) return
  const problem = problemOf(proxy)
  if (problem !== undefined) throw invalidProxy(problem)
}

export function invalidProxy(problem: string): AppError {
  return new AppError('invalid_argument', `Invalid egress proxy config: ${problem}`)
}

/** The host of an address that has passed the check, without the brackets of IPv6. */
export function proxyHost(address: string): string {
  return address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
}

function problemOf({ address, username = '', password = '', tls }: SandboxEgressProxyConfig): string | undefined {
  return addressProblem(address) ?? credentialProblem(username, password) ?? (tls && tlsProblem(tls))
}

function addressProblem(address: string): string | undefined {
  const { host, port } = /^(?<host>\[[^\]]*\]|[^:]*):(?<port>\d{1,5})$/.exec(address)?.groups ?? {}
  const name = host?.replace(/^\[(.*)\]$/, '$1') ?? ''
  if (!(isAddress(name) || NAME.test(name))) return 'address must be host:port'
  if (Number(port) < 1 || Number(port) > 65_535) return 'the port of the address must be 1 to 65535'
  if (/^localhost\.?$/i.test(name) || (isAddress(name) && isInternal(name))) return 'the address is internal'
  // The gateway dials IPv4 only.
  return isIPv6(name) ? 'the address must be IPv4 or a name' : undefined
}

function credentialProblem(username: string, password: string): string | undefined {
  if (password !== '' && username === '') return 'a password needs a username'
  for (const [field, value] of Object.entries({ username, password })) {
    if (!isStorable(value)) return `${field} must not contain NUL or unpaired surrogates`
    if (Buffer.byteLength(value) > MAX_CREDENTIAL_BYTES) return `${field} must not have more than ${MAX_CREDENTIAL_BYTES} bytes`
  }
  return undefined
}

function tlsProblem({ enabled, serverName, caCert }: NonNullable<SandboxEgressProxyConfig['tls']>): string | undefined {
  if (!enabled && (serverName !== undefined || caCert !== undefined)) return 'tls.serverName and tls.caCert need tls.enabled'
  if (serverName !== undefined && (serverName.length > MAX_SERVER_NAME_LENGTH || !NAME.test(serverName))) {
    return `tls.serverName must be a name of at most ${MAX_SERVER_NAME_LENGTH} characters`
  }
  if (caCert !== undefined && (Buffer.byteLength(caCert) > MAX_CA_BYTES || !isCertificate(caCert))) {
    return `tls.caCert must be a certificate in PEM of at most ${MAX_CA_BYTES} bytes`
  }
  return undefined
}

function isCertificate(pem: string): boolean {
  if (!isStorable(pem) || !PEM.test(pem)) return false
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
