import { deniesInternet, isAllAddresses } from '@sandyard/db/denies-internet'
import type { StoredNetwork } from '@sandyard/db/schema/sandbox'
import type { EgressPolicy, GatewayShare } from '@sandyard/runtime/types'
import { isDomain, isIpv4Network } from './addresses.ts'

/**
 * The policy of the runtime for a stored network (control-plane.md 18.4). IPv6 entries have no effect: the sandbox network is IPv4 only.
 * `dnsServers` have none of their own: they are the servers of the filter of lookups, which there is for domains (clients-python-2.63.md 6).
 *
 * @param allowInternetAccess - the stored `allow_internet_access`; null when it was never set
 */
export function toEgressPolicy(network: StoredNetwork, allowInternetAccess: boolean | null): EgressPolicy {
  const allowed = (network.allowOut ?? []).filter(isIpv4Network)
  const isClosed = deniesInternet(network, allowInternetAccess) && !allowed.some(isAllAddresses)
  const hasNames = isClosed && (network.allowOut ?? []).some(isDomain)
  const isOpen = allowed.some(isAllAddresses)
  return {
    allowInternet: !isClosed,
    // All addresses are allowed: whatever is denied.
    allowOut: isOpen ? [] : allowed,
    // `allowInternet: false` denies all of them.
    denyOut: isOpen || isClosed ? [] : (network.denyOut ?? []).filter(isIpv4Network),
    gateway: gatewayShare(network, hasNames),
    filterLookups: hasNames,
  }
}

/** The largest share that a field needs. */
function gatewayShare({ egressProxy, rules = {} }: StoredNetwork, hasNames: boolean): GatewayShare {
  if (egressProxy !== undefined) return 'all'
  if (Object.keys(rules).length > 0) return 'web'
  return hasNames ? 'names' : 'none'
}
