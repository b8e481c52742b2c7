import { AppError } from '@sandyard/kit/errors/app-error'
import type Docker from 'dockerode'
import type { Container } from 'dockerode'
import type { DaemonVolume } from '../daemon-volume/daemon-volume.ts'
import type { Namespace } from '../egress/egress-control.ts'
import { unlessStatus } from '../engine/docker-errors.ts'
import type { Bridge, SandboxNetwork } from '../network/sandbox-network.ts'
import { addressOn } from './container-state.ts'

/** Puts the egress rules of one sandbox in force; rejects when that fails. */
export interface EgressEnforcer {
  enforce(namespace: Namespace, bridge: Bridge): Promise<void>
}

export interface StartParts {
  readonly docker: Docker
  readonly network: SandboxNetwork
  readonly volume: DaemonVolume
  /** Undefined when the rules are not enforced; then the container has its network from the start. */
  readonly egress: EgressEnforcer | undefined
}

export interface RunOptions {
  readonly bridge: Bridge
  readonly signal: AbortSignal | undefined
}

/**
 * Runs a container that has no network yet and returns its address on the sandbox network. The order is: the container starts without a
 * network, the egress rules are put in force in its namespace, the network is connected. So nothing in the container has a network
 * without the rules, and the daemon boots while the network is connected. For a container that another process has left half-started
 * the rest of the steps is done. The caller undoes a failure.
 */
export async function runContainer(parts: StartParts, container: Container, { bridge, signal }: RunOptions): Promise<string> {
  signal?.throwIfAborted()
  const [isIntact] = await Promise.all([parts.volume.isIntact(), unlessStatus(304, () => container.start())])
  if (!isIntact) throw new AppError('unavailable', 'The daemon volume was removed.')
  signal?.throwIfAborted()
  const started = await container.inspect()
  if (!started.State.Running)
    throw new AppError('internal', 'The sandbox ended while it started.', { cause: new Error(started.State.Error) })
  if (parts.egress !== undefined) {
    const namespace = { pid: started.State.Pid, containerId: started.Id, resolvers: started.HostConfig.Dns ?? [] }
    await Promise.all([parts.egress.enforce(namespace, bridge), parts.network.leaveNone(started)])
    signal?.throwIfAborted()
    await parts.network.connect(container, bridge)
    signal?.throwIfAborted()
  }
  const address = addressOn(bridge.id, await container.inspect())
  if (address === undefined) throw new AppError('internal', 'The sandbox has no address.')
  return address
}
