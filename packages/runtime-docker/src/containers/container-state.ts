import type { RuntimeState } from '@sandyard/runtime/types'
import type { Station } from '../egress/registration.ts'

/** Converts the engine's state of a container to `RuntimeState`: a container without processes is stopped. */
export function runtimeState(status: string): RuntimeState {
  if (status === 'running') return 'running'
  return status === 'paused' ? 'frozen' : 'stopped'
}

interface Networks {
  readonly NetworkSettings: {
    readonly Networks: Readonly<Record<string, { readonly NetworkID: string; readonly IPAddress: string; readonly MacAddress: string }>>
  }
}

/** The container's end of its interface on a network. Undefined for a container that does not run or is not connected to it. */
export function stationOn(networkId: string, { NetworkSettings }: Networks): Station | undefined {
  const endpoint = Object.values(NetworkSettings.Networks).find(({ NetworkID }) => NetworkID === networkId)
  return endpoint === undefined || endpoint.IPAddress === '' ? undefined : { address: endpoint.IPAddress, mac: endpoint.MacAddress }
}
