import type { SandboxEgressProxyConfig, SandboxNetworkConfig, SandboxNetworkUpdate } from '@sandyard/api-contract/sandboxes/network'
import type { StoredEgress, StoredEgressProxy, StoredNetwork, StoredRule } from '@sandyard/db/schema/sandbox'

/** The `network` of a create request that has passed its checks, as it is stored: only the fields that were set. Null and empty lists are the defaults. */
export function toStoredNetwork(network: SandboxNetworkConfig): StoredNetwork {
  const { allowPublicTraffic, maskRequestHost, httpsPorts = [] } = network
  return {
    ...(typeof allowPublicTraffic === 'boolean' && { allowPublicTraffic }),
    ...(maskRequestHost !== undefined && { maskRequestHost }),
    ...(httpsPorts.length > 0 && { httpsPorts: [...new Set(httpsPorts)] }),
    ...toStoredLists(network),
  }
}

/** The egress of a network update that has passed its checks, as it is stored. What is absent is cleared. */
export function toStoredEgress(update: SandboxNetworkUpdate): StoredEgress {
  return { ...toStoredLists(update), denyInternet: update.allow_internet_access === false }
}

/** The fields that `toStoredEgress` replaces. */
export const EGRESS_FIELDS: readonly (keyof StoredEgress)[] = ['allowOut', 'denyOut', 'dnsServers', 'egressProxy', 'rules', 'denyInternet']

/** Whether everybody may reach the ports of a sandbox, without a traffic token (control-plane.md 18.2). */
export function isPublic(network: Pick<SandboxNetworkConfig, 'allowPublicTraffic'> = {}): boolean {
  return network.allowPublicTraffic !== false
}

function toStoredLists({ allowOut = [], denyOut = [], dnsServers = [], egressProxy, rules = {} }: SandboxNetworkUpdate): StoredEgress {
  return {
    ...(allowOut.length > 0 && { allowOut }),
    ...(denyOut.length > 0 && { denyOut }),
    ...(dnsServers.length > 0 && { dnsServers }),
    ...(egressProxy !== undefined && egressProxy !== null && { egressProxy: toStoredProxy(egressProxy) }),
    ...(Object.keys(rules).length > 0 && { rules: toStoredRules(rules) }),
  }
}

function toStoredProxy({ address, username = '', password = '', tls }: SandboxEgressProxyConfig): StoredEgressProxy {
  const { enabled = false, serverName, caCert } = tls ?? {}
  return {
    address: address.toLowerCase(),
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(enabled && { tls: { ...(serverName !== undefined && { serverName }), ...(caCert !== undefined && { caCert }) } }),
  }
}

function toStoredRules(rules: NonNullable<SandboxNetworkUpdate['rules']>): Record<string, StoredRule> {
  const stored = Object.entries(rules).map(
    ([domain, [rule]]) => [domain.toLowerCase(), { headers: rule?.transform?.headers ?? {} }] as const,
  )
  return Object.fromEntries(stored)
}
