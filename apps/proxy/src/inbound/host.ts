import { isIP } from 'node:net'

/** A port of a sandbox, as a client addresses it. The port of the daemon is always `DAEMON_PORT`. */
export interface SandboxAddress {
  readonly sandboxId: string
  readonly port: number
}

/** The texts of control-plane.md 19.1. The text for the header form must contain `missing header`. */
type AddressProblem = 'Invalid host' | 'Invalid sandbox ID' | 'Invalid sandbox port' | `missing header ${string}`

export interface AddressSource {
  /** Host and optional port. */
  readonly authority: string
  /** `E2b-Sandbox-Id` */
  readonly idHeader: string | undefined
  /** `E2b-Sandbox-Port` */
  readonly portHeader: string | undefined
}

/** The daemon's port for clients, wherever it listens (clients.md 1.4). */
export const DAEMON_PORT = 49_983

const SANDBOX_ID = /^[a-z0-9]{1,64}$/
const PORT = /^\d{1,5}$/

/**
 * Finds the sandbox and port of a request (control-plane.md 19.1). The two headers are used only where the host cannot
 * name a sandbox: on `localhost`, an IP address, `sandbox.<domain>` and the names in `headerHosts`; elsewhere the host decides.
 * Undefined on such a host without the headers: then the request names no sandbox.
 */
export function parseSandboxAddress(source: AddressSource, headerHosts: ReadonlySet<string>): SandboxAddress | AddressProblem | undefined {
  const name = hostName(source.authority)
  const { idHeader, portHeader } = source
  if (isHeaderHost(name, headerHosts)) {
    if (idHeader === undefined && portHeader === undefined) return undefined
    if (idHeader === undefined) return 'missing header E2b-Sandbox-Id'
    if (portHeader === undefined) return 'missing header E2b-Sandbox-Port'
    return checkAddress(idHeader, portHeader)
  }
  const dot = name.indexOf('.')
  if (dot === -1) return 'Invalid host'
  // Names are case-insensitive; ids in the header form are not.
  const [port, sandboxId] = name.slice(0, dot).toLowerCase().split('-')
  return port === undefined || sandboxId === undefined ? 'Invalid host' : checkAddress(sandboxId, port)
}

/** True for hosts that always mean this machine: a request without an address may then be for the proxy itself. */
export function isOwnHost(authority: string): boolean {
  const name = hostName(authority)
  return name.toLowerCase() === 'localhost' || isIP(name) !== 0
}

function isHeaderHost(name: string, headerHosts: ReadonlySet<string>): boolean {
  const lower = name.toLowerCase()
  return lower === 'localhost' || lower.startsWith('sandbox.') || isIP(name) !== 0 || headerHosts.has(lower)
}

function checkAddress(sandboxId: string, portText: string): SandboxAddress | AddressProblem {
  if (!SANDBOX_ID.test(sandboxId)) return 'Invalid sandbox ID'
  const port = PORT.test(portText) ? Number(portText) : 0
  return port >= 1 && port <= 65_535 ? { sandboxId, port } : 'Invalid sandbox port'
}

/** The host without its port; an IPv6 address without its brackets. */
function hostName(authority: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(authority)?.[1]
  if (bracketed !== undefined) return bracketed
  const colon = authority.indexOf(':')
  const isBareIpv6 = colon !== authority.lastIndexOf(':') && isIP(authority) === 6
  return isBareIpv6 ? authority : authority.replace(/:\d*$/, '')
}
