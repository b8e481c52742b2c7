import { AppError } from '@sandyard/kit/errors/app-error'
import type { ContainerInspectInfo } from 'dockerode'
import { createContainer, type NewContainer } from './create-container.ts'
import { runtimeState } from './container-state.ts'
import type { StartParts } from './run-container.ts'

/**
 * Creates the container of a sandbox without starting it. A resume starts it as it starts one that was stopped. One that exists and has no
 * processes is success.
 *
 * @throws AppError `not_found` without the image, `conflict` when it has processes; the engine's errors
 */
export async function createStopped(parts: StartParts, wanted: NewContainer): Promise<ContainerInspectInfo> {
  await Promise.all([parts.volume.ensure(), parts.network.ensure()])
  await createContainer(parts.docker, wanted)
  const found = await parts.docker.getContainer(wanted.name).inspect()
  if (runtimeState(found.State.Status) !== 'stopped') throw new AppError('conflict', 'This sandbox runs already.')
  return found
}
