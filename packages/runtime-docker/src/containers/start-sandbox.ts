import { AppError } from '@sandyard/kit/errors/app-error'
import type Docker from 'dockerode'
import type { Container, ContainerCreateOptions } from 'dockerode'
import type { DaemonVolume } from '../daemon-volume/daemon-volume.ts'
import type { Namespace } from '../egress/egress-control.ts'
import { statusOf, unlessStatus } from '../engine/docker-errors.ts'
import type { Bridge, SandboxNetwork } from '../network/sandbox-network.ts'
import { addressOn, runtimeState } from './container-state.ts'
import { removeContainer } from './remove-container.ts'

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

export interface StartRequest {
  readonly name: string
  readonly options: ContainerCreateOptions
  readonly signal: AbortSignal | undefined
}

/**
 * Starts a container and returns its address on the sandbox network. The order is: the container starts without a network, the egress
 * rules are put in force in its namespace, the network is connected. So nothing in the container has a network without the rules, and
 * the daemon boots while the network is connected. After a failure the container is removed.
 *
 * A container that another process left half-made is completed. For a running container only the address is returned.
 *
 * @throws AppError `not_found` without the image, `conflict` for an ended container; the abort reason; the engine's errors
 */
export async function startSandbox(parts: StartParts, request: StartRequest): Promise<string> {
  await parts.volume.ensure()
  const bridge = await parts.network.ensure()
  const made = await create(parts.docker, request)
  if (made !== undefined) return launch(parts, made, { bridge, signal: request.signal })
  const found = await parts.docker.getContainer(request.name).inspect()
  const address = addressOn(bridge.id, found)
  if (found.State.Running && address !== undefined) return address
  if (found.State.Status !== 'created' && runtimeState(found.State.Status) === 'stopped') {
    throw new AppError('conflict', 'This sandbox has ended.')
  }
  return launch(parts, parts.docker.getContainer(found.Id), { bridge, signal: request.signal })
}

interface LaunchOptions {
  readonly bridge: Bridge
  readonly signal: AbortSignal | undefined
}

async function launch(parts: StartParts, container: Container, options: LaunchOptions): Promise<string> {
  try {
    return await run(parts, container, options)
  } catch (err) {
    // If the container cannot be removed now, it stays in `list` and the caller removes it later.
    const remove = (): Promise<void> => removeContainer(parts.docker, container.id)
    await parts.network
      .disconnect(container.id)
      .then(remove)
      .catch(() => undefined)
    throw err
  }
}

async function run(parts: StartParts, container: Container, { bridge, signal }: LaunchOptions): Promise<string> {
  signal?.throwIfAborted()
  const [isIntact] = await Promise.all([parts.volume.isIntact(), unlessStatus(304, () => container.start())])
  if (!isIntact) throw new AppError('unavailable', 'The daemon volume was removed.')
  signal?.throwIfAborted()
  const started = await container.inspect()
  if (!started.State.Running)
    throw new AppError('internal', 'The sandbox ended while it started.', { cause: new Error(started.State.Error) })
  if (parts.egress !== undefined) {
    const namespace = { pid: started.State.Pid, containerId: container.id, resolvers: started.HostConfig.Dns ?? [] }
    await Promise.all([parts.egress.enforce(namespace, bridge), parts.network.leaveNone(started)])
    signal?.throwIfAborted()
    await parts.network.connect(container, bridge)
    signal?.throwIfAborted()
  }
  const address = addressOn(bridge.id, await container.inspect())
  if (address === undefined) throw new AppError('internal', 'The sandbox has no address.')
  return address
}

/** Undefined when a container of this name exists. Names are unique on an engine. */
async function create(docker: Docker, { name, options }: StartRequest): Promise<Container | undefined> {
  try {
    return await docker.createContainer({ ...options, name })
  } catch (err) {
    if (statusOf(err) === 409) return undefined
    if (statusOf(err) === 404) throw new AppError('not_found', `Image "${options.Image ?? ''}" does not exist.`, { cause: err })
    throw err
  }
}
