import { AppError } from '@sandyard/kit/errors/app-error'
import type Docker from 'dockerode'
import type { Container, ContainerCreateOptions } from 'dockerode'
import type { EgressPolicy } from '@sandyard/runtime/types'
import { statusOf } from '../engine/docker-errors.ts'
import { runtimeState } from './container-state.ts'
import { removeContainer } from './remove-container.ts'
import { runContainer, type RunOptions, type StartParts } from './run-container.ts'

export interface StartRequest {
  readonly name: string
  readonly options: ContainerCreateOptions
  readonly policy: EgressPolicy
  readonly signal: AbortSignal | undefined
}

/**
 * Creates and runs the container of a new sandbox and returns its address on the sandbox network. After a failure the container is removed.
 *
 * A container that another process left half-made is completed, a running one registered.
 *
 * @throws AppError `not_found` without the image, `conflict` for an ended container; the abort reason; the engine's errors
 */
export async function startSandbox(parts: StartParts, request: StartRequest): Promise<string> {
  await parts.volume.ensure()
  const bridge = await parts.network.ensure()
  const made = await create(parts.docker, request)
  const run = { bridge, policy: request.policy, signal: request.signal }
  if (made !== undefined) return launch(parts, made, run)
  const found = await parts.docker.getContainer(request.name).inspect()
  if (found.State.Status !== 'created' && runtimeState(found.State.Status) === 'stopped') {
    throw new AppError('conflict', 'This sandbox has ended.')
  }
  const container = parts.docker.getContainer(found.Id)
  return found.State.Running ? runContainer(parts, container, run) : launch(parts, container, run)
}

async function launch(parts: StartParts, container: Container, options: RunOptions): Promise<string> {
  try {
    return await runContainer(parts, container, options)
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

/** Undefined when a container of this name exists. Names are unique on an engine. */
async function create(docker: Docker, { name, options }: StartRequest): Promise<Container | undefined> {
  try {
    // Without `_query` the library sends the options twice, once in the address, which then is larger than some servers accept.
    return await docker.createContainer({ _query: { name }, _body: options } as ContainerCreateOptions)
  } catch (err) {
    if (statusOf(err) === 409) return undefined
    if (statusOf(err) === 404) throw new AppError('not_found', `Image "${options.Image ?? ''}" does not exist.`, { cause: err })
    throw err
  }
}
