import type { ClosedAddresses } from './closed-addresses.ts'
import type { Policy } from './compile-policy.ts'

/** The rule of control-plane.md 18.4 that decided. */
export type Decision =
  | { readonly verdict: 'allow'; readonly rule: 'allow_address' | 'allow_domain' | 'default' }
  | { readonly verdict: 'deny'; readonly rule: 'always_closed' | 'deny' | 'no_internet' }

export interface Destination {
  readonly address: string
  readonly port: number
  /** The server that the connection names, on port 443 and 80; undefined when it names none. */
  readonly name: string | undefined
}

/**
 * Decides on a connection in the order of control-plane.md 18.4: what is closed to everybody, allowed addresses, allowed domains, denied
 * addresses, no internet access, all others. The caller looks up the name that decided, and checks each address before it dials it.
 */
export function decide(policy: Policy, closed: ClosedAddresses, { address, port, name }: Destination): Decision {
  if (closed.isClosed(address, port)) return { verdict: 'deny', rule: 'always_closed' }
  if (policy.allowed.has(address)) return { verdict: 'allow', rule: 'allow_address' }
  if (name !== undefined && policy.domains.find(name) !== undefined) return { verdict: 'allow', rule: 'allow_domain' }
  if (policy.denied.has(address)) return { verdict: 'deny', rule: 'deny' }
  if (!policy.allowInternet) return { verdict: 'deny', rule: 'no_internet' }
  return { verdict: 'allow', rule: 'default' }
}

/** What is read from the beginning of a connection: a TLS server name, a `Host`, or nothing, by the port. */
export type PortKind = 'tls' | 'http' | 'other'

/** Whether the name of the server can change what happens with a connection to this address. */
export function needsName(policy: Policy, address: string, kind: PortKind): boolean {
  if (kind === 'other') return false
  return !policy.rules.isEmpty || (!policy.domains.isEmpty && !policy.allowed.has(address))
}
