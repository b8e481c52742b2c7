import { AppError } from '@sandyard/kit/errors/app-error'
import { inSpan } from '@sandyard/kit/tracing/span'
import type Docker from 'dockerode'
import type { Container } from 'dockerode'
import type { DaemonVolume } from '../daemon-volume/daemon-volume.ts'
import type { EgressControl } from '../egress/egress-control.ts'
import { unlessStatus } from '../engine/docker-errors.ts'
import type { EgressPolicy } from '@sandyard/runtime/types'
import type { Bridge, SandboxNetwork } from '../network/sandbox-network.ts'
import type { Station } from '../egress/registration.ts'
import { stationOn } from './container-state.ts'

export interface StartParts {
  readonly docker: Docker
  readonly network: SandboxNetwork
  readonly volume: DaemonVolume
  /** Undefined when the rules are not enforced. */
  readonly egress: Pick<EgressControl, 'register'> | undefined
  /** The OCI runtime uses an interface that a container gets while it runs. */
  readonly connectsLate: boolean
}

export interface RunOptions {
  readonly bridge: Bridge
  readonly policy: EgressPolicy
  readonly signal: AbortSignal | undefined
}

/**
 * Runs a container and returns its address on the sandbox network. The rules of the host let nothing of it pass before it is registered, which
 * is done here; its daemon boots meanwhile. A running container is only connected, if it is not, and registered. The caller undoes a failure.
 */
export async function runContainer(parts: StartParts, container: Container, { bridge, policy, signal }: RunOptions): Promise<string> {
  signal?.throwIfAborted()
  const [isIntact] = await Promise.all([parts.volume.isIntact(), unlessStatus(304, () => container.start())])
  if (!isIntact) throw new AppError('unavailable', 'The daemon volume was removed.')
  signal?.throwIfAborted()
  const station = (await findStation(container, bridge)) ?? (await connect(parts, container, bridge))
  if (station === undefined) throw new AppError('internal', 'The sandbox has no address.')
  signal?.throwIfAborted()
  const { egress } = parts
  if (egress !== undefined) await inSpan('guard registration', {}, () => egress.register(station, policy))
  signal?.throwIfAborted()
  return station.address
}

/** @throws AppError when the container has ended */
async function findStation(container: Container, bridge: Bridge): Promise<Station | undefined> {
  const found = await container.inspect()
  if (!found.State.Running) throw new AppError('internal', 'The sandbox ended while it started.', { cause: new Error(found.State.Error) })
  return stationOn(bridge.id, found)
}

async function connect({ network }: StartParts, container: Container, bridge: Bridge): Promise<Station | undefined> {
  await inSpan('network connection', {}, () => network.connect(container, bridge))
  return findStation(container, bridge)
}
