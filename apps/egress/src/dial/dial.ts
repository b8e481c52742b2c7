import type { Socket } from 'node:net'
import { orGivenUp } from '@sandyard/kit/async/within'
import type { ClosedAddresses } from '../policy/closed-addresses.ts'
import type { Policy } from '../policy/compile-policy.ts'
import { connectSocket } from './connect-socket.ts'
import { DialError } from './dial-error.ts'
import { dialProxy } from './dial-proxy.ts'
import type { ResolveName } from './resolve-name.ts'

export interface DialParts {
  readonly closed: ClosedAddresses
  readonly resolve: ResolveName
  readonly connectTimeoutMs: number
}

/** The server of a connection. */
export type Target =
  /** The address that the sandbox dialled. */
  | { readonly address: string; readonly port: number; readonly name?: undefined }
  /** A name, which is looked up here. `isAllowed` is asked for each address of a name that is not allowed itself. */
  | { readonly name: string; readonly port: number; readonly isAllowed: ((address: string) => boolean) | undefined }

/** Addresses of one name that are tried. */
const MAX_TRIES = 4

/**
 * Connects to a server for a sandbox: directly, or through its SOCKS5 proxy. A failure of the proxy never leads to a direct connection.
 *
 * @throws DialError
 */
export async function dial(parts: DialParts, policy: Policy, target: Target): Promise<Socket> {
  const signal = AbortSignal.timeout(parts.connectTimeoutMs)
  const { proxy, dnsServers } = policy
  const { name, port } = target
  if (name === undefined) {
    if (parts.closed.isClosed(target.address, port)) throw new DialError('closed_name')
    return proxy === undefined
      ? connectAny([target.address], port, signal)
      : dialProxy(parts, proxy, { host: target.address, port, signal })
  }
  // The proxy looks up names that the policy allows as names.
  if (proxy !== undefined && target.isAllowed === undefined) return dialProxy(parts, proxy, { host: name, port, signal })
  const addresses = await openAddresses(parts, target, { dnsServers, signal })
  const [first = ''] = addresses
  return proxy === undefined ? connectAny(addresses, port, signal) : dialProxy(parts, proxy, { host: first, port, signal })
}

/** The addresses of a name that may be dialled. @throws DialError without one */
async function openAddresses(
  { closed, resolve }: DialParts,
  { name, port, isAllowed }: Extract<Target, { name: string }>,
  { dnsServers, signal }: { readonly dnsServers: readonly string[]; readonly signal: AbortSignal },
): Promise<string[]> {
  const found = await orGivenUp(resolve(name, dnsServers), signal, 0).catch((err: unknown) => {
    throw new DialError('unresolved', err)
  })
  if (found.length === 0) throw new DialError('unresolved')
  const open = found.filter((address) => !closed.isClosed(address, port) && isAllowed?.(address) !== false)
  if (open.length === 0) throw new DialError('closed_name')
  return open
}

async function connectAny(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  let failure: unknown
  for (const address of addresses.slice(0, MAX_TRIES)) {
    try {
      return await connectSocket(address, port, signal)
    } catch (err) {
      failure = err
      if (signal.aborted) break
    }
  }
  throw new DialError('unreachable', failure)
}
