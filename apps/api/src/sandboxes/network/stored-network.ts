import type { SandboxNetworkConfig } from '@sandyard/api-contract/sandboxes/network'
import type { StoredNetwork } from '@sandyard/db/schema/sandbox'

/** The fields of `network` that are stored: only those that were set. Null and empty lists are the defaults. */
export function toStoredNetwork(network: SandboxNetworkConfig): StoredNetwork {
  const { allowPublicTraffic, maskRequestHost, allowOut = [] } = network
  return {
    ...(typeof allowPublicTraffic === 'boolean' && { allowPublicTraffic }),
    ...(maskRequestHost !== undefined && { maskRequestHost }),
    ...(allowOut.length > 0 && { allowOut }),
  }
}

/** Whether everybody may reach the ports of a sandbox, without a traffic token (control-plane.md 18.2). */
export function isPublic(network: Pick<SandboxNetworkConfig, 'allowPublicTraffic'> = {}): boolean {
  return network.allowPublicTraffic !== false
}
