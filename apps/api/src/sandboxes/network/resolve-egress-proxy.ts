import { Resolver } from 'node:dns/promises'
import { isIP, isIPv4 } from 'node:net'
import type { SandboxEgressProxyConfig } from '@sandyard/api-contract/sandboxes/network'
import { within } from '@sandyard/kit/async/within'
import { invalidProxy, proxyHost } from './check-egress-proxy.ts'
import { isInternal } from './internal-addresses.ts'

/** All addresses of a host name, of IPv4 and IPv6. */
export type LookupHost = (name: string) => Promise<readonly string[]>

const LOOKUP_TIMEOUT_MS = 5000
const QUERY = { timeout: 1500, tries: 2 } as const

/**
 * Refuses an egress proxy whose name has no address of IPv4, or an internal one. It is refused early for a clear answer; the gateway looks the name
 * up again for each connection, since names change.
 *
 * @throws AppError `invalid_argument` (control-plane.md 18.6); the details are ours
 */
export async function resolveEgressProxy(proxy: SandboxEgressProxyConfig | null | undefined, lookupHost: LookupHost): Promise<void> {
  if (proxy === null || proxy === undefined) return
  const host = proxyHost(proxy.address).toLowerCase()
  if (isIP(host) !== 0) return
  const what = 'the lookup of the egress proxy'
  const addresses = await within({ what, timeoutMs: LOOKUP_TIMEOUT_MS }, () => lookupHost(host)).catch(() => [])
  if (addresses.length === 0) throw invalidProxy('the name of the address cannot be resolved')
  if (addresses.some(isInternal)) throw invalidProxy('the address is internal')
  if (!addresses.some(isIPv4)) throw invalidProxy('the name of the address has no IPv4 address')
}

/** Asks the name servers of this host. It occupies no thread, so names whose servers do not answer delay nobody else. */
export async function lookupHost(name: string): Promise<string[]> {
  const resolver = new Resolver(QUERY)
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}
