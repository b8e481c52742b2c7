import { AppError } from '@sandyard/kit/errors/app-error'
import type Docker from 'dockerode'
import type { Container, ContainerCreateOptions } from 'dockerode'
import { statusOf } from '../engine/docker-errors.ts'

export interface NewContainer {
  readonly name: string
  readonly options: ContainerCreateOptions
}

/**
 * Creates a container without starting it. Undefined when a container of this name exists. Names are unique on an engine.
 *
 * @throws AppError `not_found` without the image; the engine's errors
 */
export async function createContainer(docker: Docker, { name, options }: NewContainer): Promise<Container | undefined> {
  try {
    // Without `_query` the library sends the options twice, once in the address, which then is larger than some servers accept.
    return await docker.createContainer({ _query: { name }, _body: options } as ContainerCreateOptions)
  } catch (err) {
    if (statusOf(err) === 409) return undefined
    if (statusOf(err) === 404) throw new AppError('not_found', `Image "${options.Image ?? ''}" does not exist.`, { cause: err })
    throw err
  }
}
