import { AppError } from '@sandyard/kit/errors/app-error'
import type { DockerfileRequest, ImageFacts, ImageStore, KeptImage, PullRequest } from '@sandyard/runtime/image-store'
import type { ImageRef } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import { engineCall, statusOf, unlessStatus } from '../engine/docker-errors.ts'
import { isOwnRepository } from '../labels.ts'
import type { DockerfileBuilds } from './dockerfile/dockerfile-builds.ts'
import { toFacts } from './image-facts.ts'
import { parseImageReference, type ImageReference } from './image-reference.ts'
import { checkSize } from './image-size.ts'
import type { KeptImages } from './kept-images.ts'
import type { PullJournal } from './registry/pull-journal.ts'
import type { Puller } from './registry/puller.ts'
import { imageNotFound, registryClosed } from './registry/registry-errors.ts'

export interface DockerImageStoreOptions {
  readonly docker: Docker
  readonly kept: KeptImages
  readonly puller: Puller
  readonly builds: DockerfileBuilds
  readonly journal: PullJournal
  readonly baseImage: ImageRef | undefined
  /** Whose images may be used; all when empty. */
  readonly registries: readonly string[]
  readonly maxSizeBytes: number
}

/** The name by which clients know our base template. */
const BASE_REPOSITORY = 'e2bdev/base'

/** Images of one engine. What it makes is under names of the installation. */
export class DockerImageStore implements ImageStore {
  readonly #options: DockerImageStoreOptions

  constructor(options: DockerImageStoreOptions) {
    this.#options = options
  }

  async pull({ reference: text, credentials, onLine }: PullRequest, signal?: AbortSignal): Promise<ImageFacts> {
    signal?.throwIfAborted()
    const reference = parseImageReference(text)
    const { baseImage, puller, registries } = this.#options
    if (reference.repository === BASE_REPOSITORY && baseImage !== undefined) return this.inspect(baseImage)
    if (isOwnRepository(reference.repository)) throw imageNotFound(text)
    if (registries.length > 0 && !registries.includes(reference.registry)) throw registryClosed(text)
    const found = credentials === undefined ? await this.#findOnEngine(reference) : undefined
    return found ?? puller.pull(reference, { credentials, onLine, signal })
  }

  buildDockerfile(request: DockerfileRequest, signal?: AbortSignal): Promise<ImageFacts> {
    return this.#options.builds.build(request, signal)
  }

  async inspect(image: ImageRef): Promise<ImageFacts> {
    return engineCall('The image could not be looked at.', async () => {
      try {
        return toFacts(image, await this.#options.docker.getImage(image).inspect())
      } catch (err) {
        if (statusOf(err) === 404) throw new AppError('not_found', `Image "${image}" does not exist.`, { cause: err })
        throw err
      }
    })
  }

  list(): Promise<KeptImage[]> {
    return engineCall('The images could not be listed.', () => this.#options.kept.list())
  }

  remove(image: ImageRef): Promise<void> {
    return engineCall('The image could not be removed.', () => this.#options.kept.remove(image))
  }

  /** Takes away what was given up, and what a process that died has left half-made. */
  async sweep(): Promise<void> {
    await this.#options.kept.sweep()
    await this.#options.journal.sweep()
  }

  /**
   * An image that is known by its digest only may be there because of somebody's credentials, or not yet be taken away by the pull that
   * brought it. Only the operator gives images tags in other repositories than ours.
   */
  #findOnEngine({ text, name, repository, selector }: ImageReference): Promise<ImageFacts | undefined> {
    return engineCall('The image could not be looked up.', async () => {
      const found = await unlessStatus(404, () => this.#options.docker.getImage(name).inspect())
      if (found === undefined) return undefined
      if ('digest' in selector && !found.RepoTags?.some((tag) => tag.startsWith(`${repository}:`))) return undefined
      checkSize(`image '${text}'`, found.Size, this.#options.maxSizeBytes)
      return toFacts(name, found)
    })
  }
}
