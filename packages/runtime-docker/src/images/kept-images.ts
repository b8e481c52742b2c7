import { pollUntil } from '@sandyard/kit/async/poll-until'
import { randomId } from '@sandyard/kit/ids/ids'
import type { KeptImage } from '@sandyard/runtime/image-store'
import type { ImageRef } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import type { ImageInfo } from 'dockerode'
import { removeContainer } from '../containers/remove-container.ts'
import { unlessStatus } from '../engine/docker-errors.ts'
import { repairEach } from '../engine/repair-each.ts'
import {
  imageFilter,
  KEPT_REPOSITORY,
  keptAt,
  keptImage,
  LABEL,
  removedImage,
  REMOVED_REPOSITORY,
  roleFilter,
  SNAPSHOT_REPOSITORY,
} from '../labels.ts'

/** No step of a build takes this long: older ones were left behind by a process that died. */
const LEFT_BEHIND_AFTER_MS = 24 * 60 * 60 * 1000
const END_OF_BUILD_MS = 60_000

/**
 * The images of an installation on the engine, identified by their names: every one has its own name, even if several
 * are the same image.
 */
export class KeptImages {
  readonly #docker: Docker
  readonly #installation: string
  /** Builds in progress in this process. */
  readonly #builds = new Set<string>()

  constructor(docker: Docker, installation: string) {
    this.#docker = docker
    this.#installation = installation
  }

  /** Returns a new name for an existing image. */
  newName(): ImageRef {
    return keptImage(this.#installation, new Date(), randomId(16))
  }

  owns(image: string): boolean {
    return [SNAPSHOT_REPOSITORY, KEPT_REPOSITORY].some((repository) => image.startsWith(`${repository}${this.#installation}:`))
  }

  async list(): Promise<KeptImage[]> {
    const found = await this.#docker.listImages({ filters: imageFilter(this.#installation, [SNAPSHOT_REPOSITORY, KEPT_REPOSITORY]) })
    return found.flatMap(({ RepoTags, Created }) =>
      (RepoTags ?? [])
        .filter((image) => this.owns(image))
        .map((image) => ({ image, createdAt: keptAt(this.#installation, image) ?? new Date(Created * 1000) })),
    )
  }

  /** An image that containers still use gets another name, under which `sweep` finds it. An absent image, or one that is not ours, is success. */
  async remove(image: ImageRef): Promise<void> {
    if (!this.owns(image)) return
    await unlessStatus(404, async () => {
      const { Id } = await this.#docker.getImage(image).inspect()
      const given = removedImage(this.#installation, Id)
      await tagImage(this.#docker, Id, given)
      // The image has another name now, so this removes only this name.
      await unlessStatus(404, () => this.#docker.getImage(image).remove())
      await this.#removeUnused(given)
    })
  }

  /** Deletes removed images that no container uses any more. */
  sweep(): Promise<void> {
    return this.#sweep((createdAt) => Date.now() - createdAt > LEFT_BEHIND_AFTER_MS)
  }

  async #sweep(isOver: (createdAt: number) => boolean): Promise<void> {
    const given = await this.#docker.listImages({ filters: imageFilter(this.#installation, [REMOVED_REPOSITORY]) })
    const prefix = `${REMOVED_REPOSITORY}${this.#installation}:`
    const names = given.flatMap(({ RepoTags }) => (RepoTags ?? []).filter((name) => name.startsWith(prefix)))
    await repairEach(
      [() => repairEach(names, (name) => this.#removeUnused(name)), () => this.#sweepContainers(isOver), () => this.#sweepNameless(isOver)],
      (step) => step(),
    )
  }

  /** Removes every image, used or not. */
  async removeAll(): Promise<void> {
    for (const { image } of await this.list()) await this.remove(image)
    await this.#sweep(() => true)
  }

  /**
   * Runs a build whose containers and images are labelled with its id. On return only named images are left of it. The
   * engine takes a moment to end the step of a build whose connection was closed.
   */
  async during<T>(build: string, work: () => Promise<T>): Promise<T> {
    this.#builds.add(build)
    try {
      return await work()
    } finally {
      const what = { what: 'the end of a build', timeoutMs: END_OF_BUILD_MS, everyMs: 50 }
      // `sweep` removes what the engine cannot remove now.
      await pollUntil(what, () => this.#cleanUp(build)).catch(() => undefined)
      this.#builds.delete(build)
    }
  }

  /** Undefined while something is left. */
  async #cleanUp(build: string): Promise<true | undefined> {
    const label = [`${LABEL.build}=${build}`]
    const steps = await this.#docker.listContainers({ all: true, filters: JSON.stringify({ label }) })
    if (steps.length > 0) return undefined
    await this.#removeNameless(label, () => true)
    return (await this.#nameless(label)).length === 0 ? true : undefined
  }

  /** Images in progress, of this or another process, have no name either. */
  async #sweepNameless(isOver: (createdAt: number) => boolean): Promise<void> {
    await this.#removeNameless([], ({ Labels, Created }) => {
      const build = Labels?.[LABEL.build] ?? ''
      const isUnfinished = build !== '' || Labels?.[LABEL.role] === 'flatten'
      return !isUnfinished || (!this.#builds.has(build) && isOver(Created * 1000))
    })
  }

  /** Containers that were used to make images. */
  async #sweepContainers(isOver: (createdAt: number) => boolean): Promise<void> {
    const filters = roleFilter(this.#installation, 'flatten')
    const idle = await this.#docker.listContainers({ all: true, filters })
    const old = idle.filter(({ Created }) => isOver(Created * 1000))
    await repairEach(old, ({ Id }) => removeContainer(this.#docker, Id))
  }

  async #removeNameless(labels: readonly string[], isWanted: (image: ImageInfo) => boolean): Promise<void> {
    const found = await this.#nameless(labels)
    await repairEach(found.filter(isWanted), ({ Id }) => this.#removeUnused(Id))
  }

  #nameless(labels: readonly string[]): Promise<ImageInfo[]> {
    const label = [`${LABEL.installation}=${this.#installation}`, ...labels]
    return this.#docker.listImages({ filters: JSON.stringify({ dangling: ['true'], label }) })
  }

  /** The engine refuses to remove the last name of an image while a container runs from it, and keeps layers that other images use. */
  async #removeUnused(name: string): Promise<void> {
    await unlessStatus(404, () => unlessStatus(409, () => this.#docker.getImage(name).remove()))
  }
}

/** Gives an image another name. @throws with status 404 when it is absent */
export async function tagImage(docker: Docker, image: string, name: string): Promise<void> {
  const colon = name.lastIndexOf(':')
  await docker.getImage(image).tag({ repo: name.slice(0, colon), tag: name.slice(colon + 1) })
}
