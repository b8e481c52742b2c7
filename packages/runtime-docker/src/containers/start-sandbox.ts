import { AppError } from '@sandyard/kit/errors/app-error'
import type { Container } from 'dockerode'
import type { EgressPolicy } from '@sandyard/runtime/types'
import { createContainer, type NewContainer } from './create-container.ts'
import { runtimeState } from './container-state.ts'
import { removeContainer } from './remove-container.ts'
import { runContainer, type RunOptions, type StartParts } from './run-container.ts'

export interface StartRequest extends NewContainer {
  readonly policy: EgressPolicy
  readonly signal: AbortSignal | undefined
}

/**
 * Creates and runs the container of a new sandbox and returns its address on the sandbox network. After a failure the container is removed.
 *
 * Where the OCI runtime allows it, the container starts without a network and is connected while its daemon boots: the engine takes as long to
 * set up an interface and a resolver as to start a process.
 *
 * A container that another process left half-made is completed, a running one registered.
 *
 * @throws AppError `not_found` without the image, `conflict` for an ended container; the abort reason; the engine's errors
 */
export async function startSandbox(parts: StartParts, request: StartRequest): Promise<string> {
  await parts.volume.ensure()
  const bridge = await parts.network.ensure()
  const made = await createContainer(parts.docker, request)
  const run = { bridge, policy: request.policy, signal: request.signal }
  if (made !== undefined) return launch(parts, made, { ...run, isNew: true })
  const found = await parts.docker.getContainer(request.name).inspect()
  if (found.State.Status !== 'created' && runtimeState(found.State.Status) === 'stopped') {
    throw new AppError('conflict', 'This sandbox has ended.')
  }
  const container = parts.docker.getContainer(found.Id)
  return found.State.Running ? runContainer(parts, container, run) : launch(parts, container, run)
}

async function launch(parts: StartParts, container: Container, options: RunOptions & { readonly isNew?: boolean }): Promise<string> {
  try {
    if (options.isNew === true && parts.connectsLate) await parts.network.leaveBeforeStart(container, options.bridge)
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
