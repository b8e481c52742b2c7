import { BlockList, isIP } from 'node:net'
import type { SandboxEgressProxyConfig } from '@sandyard/api-contract/sandboxes/network'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isAddress } from './addresses.ts'

const MAX_CREDENTIAL_BYTES = 255
const MAX_SERVER_NAME_LENGTH = 253
const MAX_CA_BYTES = 8192
const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i
const PEM = /^\s*-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----\s*$/

/** Never reachable from a sandbox (control-plane.md 18.4). */
const INTERNAL = new BlockList()
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  INTERNAL.addSubnet(network, prefix)
}
INTERNAL.addAddress('::1', 'ipv6')
INTERNAL.addSubnet('fc00::', 7, 'ipv6')
INTERNAL.addSubnet('fe80::', 10, 'ipv6')

/** @throws AppError `invalid_argument` (control-plane.md 18.6, clients-python-2.63.md 6); the details are ours */
export function checkEgressProxy(proxy: SandboxEgressProxyConfig | null | undefined): void {
  if (proxy === null || proxy === undefined) return
  const problem = problemOf(proxy)
  if (problem !== undefined) throw new AppError('invalid_argument', `Invalid egress proxy config: ${problem}`)
}

function problemOf({ address, username = '', password = '', tls }: SandboxEgressProxyConfig): string | undefined {
  return addressProblem(address) ?? credentialProblem(username, password) ?? (tls && tlsProblem(tls))
}

function addressProblem(address: string): string | undefined {
  const { host, port } = /^(?<host>\[[^\]]*\]|[^:]*):(?<port>\d{1,5})$/.exec(address)?.groups ?? {}
  const name = host?.replace(/^\[(.*)\]$/, '$1') ?? ''
  if (!(isAddress(name) || NAME.test(name))) return 'address must be host:port'
  if (Number(port) < 1 || Number(port) > 65_535) return 'the port of the address must be 1 to 65535'
  if (/^localhost\.?$/i.test(name) || (isAddress(name) && INTERNAL.check(name, isIP(name) === 4 ? 'ipv4' : 'ipv6'))) {
    return 'the address is internal'
  }
  return undefined
}

function credentialProblem(username: string, password: string): string | undefined {
  if (password !== '' && username === '') return 'a password needs a username'
  for (const [field, value] of Object.entries({ username, password })) {
    if (Buffer.byteLength(value) > MAX_CREDENTIAL_BYTES) return `${field} must not have more than ${MAX_CREDENTIAL_BYTES} bytes`
  }
  return undefined
}

function tlsProblem({ enabled, serverName, caCert }: NonNullable<SandboxEgressProxyConfig['tls']>): string | undefined {
  if (!enabled && (serverName !== undefined || caCert !== undefined)) return 'tls.serverName and tls.caCert need tls.enabled'
  if (serverName !== undefined && (serverName.length > MAX_SERVER_NAME_LENGTH || !NAME.test(serverName))) {
    return `tls.serverName must be a name of at most ${MAX_SERVER_NAME_LENGTH} characters`
  }
  if (caCert !== undefined && (Buffer.byteLength(caCert) > MAX_CA_BYTES || !PEM.test(caCert))) {
    return `tls.caCert must be a certificate in PEM of at most ${MAX_CA_BYTES} bytes`
  }
  return undefined
}
