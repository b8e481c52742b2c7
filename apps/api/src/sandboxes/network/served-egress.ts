import type { SandboxNetworkUpdate } from '@sandyard/api-contract/sandboxes/network'
import type { RuntimeCapabilities } from '@sandyard/runtime/types'
import { isDomain } from './addresses.ts'

export type EgressCapabilities = Pick<RuntimeCapabilities, 'egressPolicies' | 'egressGateway'>

/**
 * The first field of egress that has an effect which nothing enforces. `allowOut` alone has none: without a deny everything that it can
 * allow is open already (control-plane.md 18.4).
 */
export function unservedEgressField(
  network: SandboxNetworkUpdate,
  { egressPolicies, egressGateway }: EgressCapabilities,
): string | undefined {
  const { allowOut = [], denyOut = [], egressProxy, dnsServers = [], rules = {} } = network
  if (!egressPolicies && denyOut.length > 0) return 'denyOut'
  if (!egressPolicies || egressGateway === undefined) {
    if (allowOut.some(isDomain)) return 'allowOut'
    if (egressProxy !== undefined && egressProxy !== null) return 'egressProxy'
    if (dnsServers.length > 0) return 'dnsServers'
    if (Object.keys(rules).length > 0) return 'rules'
  }
  return undefined
}
