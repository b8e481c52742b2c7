import type { ContainerInspectInfo } from 'dockerode'
import type { RuntimeState } from '@sandyard/runtime/types'

/** Converts the engine's state of a container to `RuntimeState`: a container without processes is stopped. */
export function runtimeState(status: string): RuntimeState {
  if (status === 'running') return 'running'
  return status === 'paused' ? 'frozen' : 'stopped'
}

/** Undefined until the container is connected to the network, which happens after its rules are in force. */
export function addressOn(networkId: string, { NetworkSettings }: ContainerInspectInfo): string | undefined {
  const endpoint = Object.values(NetworkSettings.Networks).find(({ NetworkID }) => NetworkID === networkId)
  return endpoint?.IPAddress === '' ? undefined : endpoint?.IPAddress
}
