import { AppError } from '@sandyard/kit/errors/app-error'
import type { DockerfileRequest, ImageFacts, ImageStore, KeptImage, PullRequest } from '@sandyard/runtime/image-store'
import type { ImageRef } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import { engineCall, statusOf } from '../engine/docker-errors.ts'
import { toFacts } from './image-facts.ts'
import type { KeptImages } from './kept-images.ts'

/** Images of one engine. What it makes is under names of the installation. */
export class DockerImageStore implements ImageStore {
  readonly #docker: Docker
  readonly #kept: KeptImages

  constructor(docker: Docker, kept: KeptImages) {
    this.#docker = docker
    this.#kept = kept
  }

  async pull({ reference }: PullRequest, signal?: AbortSignal): Promise<ImageFacts> {
    signal?.throwIfAborted()
    return this.inspect(reference)
  }

  async buildDockerfile(_request: DockerfileRequest, signal?: AbortSignal): Promise<ImageFacts> {
    signal?.throwIfAborted()
    throw new AppError('unimplemented', 'This engine builds no Dockerfiles.')
  }

  async inspect(image: ImageRef): Promise<ImageFacts> {
    return engineCall('The image could not be looked at.', async () => {
      try {
        return toFacts(image, await this.#docker.getImage(image).inspect())
      } catch (err) {
        if (statusOf(err) === 404) throw new AppError('not_found', `Image "${image}" does not exist.`, { cause: err })
        throw err
      }
    })
  }

  list(): Promise<KeptImage[]> {
    return engineCall('The images could not be listed.', () => this.#kept.list())
  }

  remove(image: ImageRef): Promise<void> {
    return engineCall('The image could not be removed.', () => this.#kept.remove(image))
  }
}
