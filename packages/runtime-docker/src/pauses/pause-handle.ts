import { AppError } from '@sandyard/kit/errors/app-error'
import { checkOrigin, type Origin } from '@sandyard/runtime/origin'
import type { Keep, PauseHandle } from '@sandyard/runtime/types'
import type { ContainerInspectInfo } from 'dockerode'
import { runtimeState } from '../containers/container-state.ts'

/** The handle of a paused container. */
export interface DockerHandle extends PauseHandle {
  /** The name of the container. */
  readonly container: string
  /** When the engine started its processes: a later start means that the memory of the pause is lost. */
  readonly startedAt: string
}

export function makeHandle(origin: Origin, container: string, { State }: ContainerInspectInfo): DockerHandle {
  const keep: Keep = runtimeState(State.Status) === 'frozen' ? 'memory' : 'files'
  return { ...origin, keep, container, startedAt: State.StartedAt }
}

/** @throws AppError `failed_precondition` for a handle that this runtime did not make for this container */
export function readHandle(handle: PauseHandle, origin: Origin, container: string): DockerHandle {
  checkOrigin('paused sandbox', handle, origin)
  if (handle['container'] !== container || typeof handle['startedAt'] !== 'string')
    throw new AppError('failed_precondition', 'This handle is of another sandbox.')
  return handle as DockerHandle
}
