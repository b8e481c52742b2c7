import { AppError } from '@sandyard/kit/errors/app-error'
import type { DockerfileRequest, ImageFacts, ImageStore, KeptImage, PullRequest } from '@sandyard/runtime/image-store'
import type { ImageRef } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import type { ImageInspectInfo } from 'dockerode'
import { engineCall, statusOf, unlessStatus } from '../engine/docker-errors.ts'
import { isOwnRepository } from '../labels.ts'
import type { DockerfileBuilds } from './dockerfile/dockerfile-builds.ts'
import { toFacts } from './image-facts.ts'
import { parseImageReference, type ImageReference } from './image-reference.ts'
import { hasVolumes, nameWithoutVolumes } from './image-volumes.ts'
import { checkSize } from './image-size.ts'
import { checkWorkdir } from './check-workdir.ts'
import type { KeptImages } from './kept-images.ts'
import type { SharedImages } from './shared-images.ts'
import type { PullJournal } from './registry/pull-journal.ts'
import type { Puller } from './registry/puller.ts'
import { repairEach } from '../engine/repair-each.ts'
import type { AllowedRegistries } from './registry/allowed-registries.ts'
import { imageNotFound } from './registry/registry-errors.ts'

export interface DockerImageStoreOptions {
  readonly docker: Docker
  readonly installation: string
  readonly kept: KeptImages
  readonly shared: SharedImages
  readonly puller: Puller
  readonly builds: DockerfileBuilds
  readonly journal: PullJournal
  readonly baseImage: ImageRef | undefined
  readonly registries: AllowedRegistries
  readonly maxSizeBytes: number
}

/** The name that clients use for our base template. */
const BASE_REPOSITORY = 'e2bdev/base'

/** The images of one engine. Images that it creates have names of the installation. */
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
    await registries.check(reference, signal)
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
    const { kept, shared } = this.#options
    return engineCall('The images could not be listed.', async () => [...(await kept.list()), ...(await shared.listOldBases())])
  }

  remove(image: ImageRef): Promise<void> {
    const { kept, shared } = this.#options
    return engineCall('The image could not be removed.', () => (shared.ownsBase(image) ? shared.remove(image) : kept.remove(image)))
  }

  /** Deletes removed images that are no longer used, and the unfinished images of processes that have died. */
  async sweep(): Promise<void> {
    const { kept, journal, shared } = this.#options
    await repairEach([kept, journal], (part) => part.sweep())
    await shared.sweepGuards()
  }

  /**
   * An image without a tag may have been pulled with the credentials of another team, or a pull may be about to remove it. Only the
   * operator sets tags in repositories that are not ours.
   */
  #findOnEngine({ text, name, repository, selector }: ImageReference): Promise<ImageFacts | undefined> {
    return engineCall('The image could not be looked up.', async () => {
      const found = await unlessStatus(404, () => this.#options.docker.getImage(name).inspect())
      if (found === undefined) return undefined
      if ('digest' in selector && !found.RepoTags?.some((tag) => tag.startsWith(`${repository}:`))) return undefined
      checkSize(`image '${text}'`, found.Size, this.#options.maxSizeBytes)
      checkWorkdir(`image '${text}'`, found)
      return toFacts(hasVolumes(found) ? await this.#keepWithoutVolumes(found) : name, found)
    })
  }

  /** The operator's image stays as it is. */
  async #keepWithoutVolumes(source: ImageInspectInfo): Promise<ImageRef> {
    const { docker, installation, kept } = this.#options
    const name = kept.newName()
    await nameWithoutVolumes(docker, { source, name, installation })
    return name
  }
}
