import type { SandboxNetwork } from '@sandyard/api-contract/sandboxes/sandbox'
import type { StoredEgressProxy, StoredNetwork, StoredRule } from '@sandyard/db/schema/sandbox'

/**
 * `network` in answers (control-plane.md 6.1.4). Clients require the lists and the rules not to be null where they are present
 * (clients-python-2.63.md 4).
 */
export function toNetwork(network: StoredNetwork): SandboxNetwork {
  const { allowPublicTraffic = true, allowOut = [], denyOut = [], maskRequestHost, httpsPorts, dnsServers, rules, egressProxy } = network
  return {
    allowPublicTraffic,
    allowOut: [...allowOut],
    denyOut: [...denyOut],
    ...(maskRequestHost !== undefined && { maskRequestHost }),
    ...(httpsPorts !== undefined && { httpsPorts: [...httpsPorts] }),
    ...(dnsServers !== undefined && { dnsServers: [...dnsServers] }),
    ...(rules !== undefined && { rules: Object.fromEntries(Object.entries(rules).map(toRule)) }),
    ...(egressProxy !== undefined && { egressProxy: toProxy(egressProxy) }),
  }
}

function toRule([domain, { headers }]: [string, StoredRule]) {
  return [domain, Object.keys(headers).length === 0 ? [] : [{ transform: { headers } }]] as const
}

/** Without its password, and without its certificate authority, which clients do not expect. */
function toProxy({ address, username, tls }: StoredEgressProxy): NonNullable<SandboxNetwork['egressProxy']> {
  const { serverName } = tls ?? {}
  return {
    address,
    ...(username !== undefined && { username }),
    ...(tls !== undefined && { tls: { enabled: true, ...(serverName !== undefined && { serverName }) } }),
  }
}
