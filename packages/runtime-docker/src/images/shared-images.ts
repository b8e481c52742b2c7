import type { KeptImage } from '@sandyard/runtime/image-store'
import type { ImageRef } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import type { ImageInfo } from 'dockerode'
import { unlessStatus } from '../engine/docker-errors.ts'
import { KEPT_REPOSITORY, LABEL, SNAPSHOT_REPOSITORY } from '../labels.ts'

const BASE_REPOSITORY = 'sandyard/base'
const GUARD_REPOSITORY = 'sandyard/guard'

/** A server of another version starts its guard within minutes after it has built the image; then the container protects the image. */
const OLD_GUARD_AFTER_MS = 60 * 60 * 1000

/** The images of this version; undefined when this process uses none. */
export interface CurrentImages {
  readonly base: ImageRef | undefined
  readonly guard: string | undefined
}

/**
 * The images that every installation on an engine shares, `sandyard/base` and `sandyard/guard`, and their old versions. Another
 * installation may use a version that this one does not use, and would have to build it again. So old versions are removed only while
 * no other installation has containers or images on the engine.
 */
export class SharedImages {
  readonly #docker: Docker
  readonly #installation: string
  readonly #current: CurrentImages

  constructor(docker: Docker, installation: string, current: CurrentImages) {
    this.#docker = docker
    this.#installation = installation
    this.#current = current
  }

  /** Old versions of the base image. Builds of templates may refer to them. */
  async listOldBases(): Promise<KeptImage[]> {
    if (this.#current.base === undefined) return []
    const old = await this.#versions(BASE_REPOSITORY, this.#current.base)
    if (old.length === 0 || !(await this.#isAlone())) return []
    return old.map(({ image, createdAt }) => ({ image, createdAt }))
  }

  ownsBase(image: string): boolean {
    return this.#current.base !== undefined && image.startsWith(`${BASE_REPOSITORY}:`) && image !== this.#current.base
  }

  /** The engine keeps an image that a container uses, and the layers of other images. */
  async remove(image: string): Promise<void> {
    await unlessStatus(404, () => unlessStatus(409, () => this.#docker.getImage(image).remove()))
  }

  /** Removes other versions of the guard's image that nothing uses. `now` is the time for their ages. */
  async sweepGuards(now: number = Date.now()): Promise<void> {
    if (this.#current.guard === undefined) return
    const versions = await this.#versions(GUARD_REPOSITORY, this.#current.guard)
    const old = versions.filter(({ createdAt }) => now - createdAt.getTime() > OLD_GUARD_AFTER_MS)
    if (old.length === 0 || !(await this.#isAlone())) return
    for (const { image } of old) await this.remove(image)
  }

  async #versions(repository: string, current: string): Promise<KeptImage[]> {
    const found = await this.#docker.listImages({ filters: JSON.stringify({ reference: [repository] }) })
    return found.flatMap(({ RepoTags, Created }) =>
      (RepoTags ?? [])
        .filter((image) => image.startsWith(`${repository}:`) && image !== current)
        .map((image) => ({ image, createdAt: new Date(Created * 1000) })),
    )
  }

  async #isAlone(): Promise<boolean> {
    const filters = JSON.stringify({ label: [LABEL.installation] })
    const [containers, { Volumes: volumes }, networks, images] = await Promise.all([
      this.#docker.listContainers({ all: true, filters }),
      this.#docker.listVolumes({ filters }),
      this.#docker.listNetworks({ filters }),
      this.#docker.listImages({ filters: JSON.stringify({ reference: [`${KEPT_REPOSITORY}*`, `${SNAPSHOT_REPOSITORY}*`] }) }),
    ])
    const labelled = [...containers, ...volumes, ...networks].map(({ Labels }) => Labels?.[LABEL.installation])
    return labelled.every((installation) => installation === this.#installation) && images.every((image) => this.#isOurs(image))
  }

  #isOurs({ RepoTags }: ImageInfo): boolean {
    const own = [KEPT_REPOSITORY, SNAPSHOT_REPOSITORY].map((repository) => `${repository}${this.#installation}:`)
    const others = [KEPT_REPOSITORY, SNAPSHOT_REPOSITORY]
    return (RepoTags ?? []).every((tag) => own.some((name) => tag.startsWith(name)) || !others.some((name) => tag.startsWith(name)))
  }
}
