import type Docker from 'dockerode'
import { unlessStatus } from '../../engine/docker-errors.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../../engine/empty-image.ts'
import { imageFilter, PULLING_REPOSITORY } from '../../labels.ts'
import { tagImage } from '../kept-images.ts'

/** No pull takes this long: the process of an older entry has died. */
const LEFT_BEHIND_AFTER_MS = 6 * 60 * 60 * 1000

/**
 * The digests that are being pulled, recorded as names of the empty image. An image that is pulled by its digest has no other
 * name until the pull has ended. If the process dies before that, the record is used to find the image.
 */
export class PullJournal {
  readonly #docker: Docker
  readonly #installation: string

  constructor(docker: Docker, installation: string) {
    this.#docker = docker
    this.#installation = installation
  }

  /** Records a digest while `pull` runs. */
  async during<T>(digest: string, pull: () => Promise<T>): Promise<T> {
    await ensureEmptyImage(this.#docker)
    const entry = `${this.#prefix}${hexOf(digest)}-${Date.now().toString(36)}`
    await tagImage(this.#docker, EMPTY_IMAGE, entry)
    try {
      return await pull()
    } finally {
      await this.#untag(entry).catch(() => undefined)
    }
  }

  /** Whether a process of this installation pulls the digest, or has died during the pull. */
  async has(digest: string): Promise<boolean> {
    return (await this.#entries()).some(({ hex }) => hex === hexOf(digest))
  }

  /** Removes the leftovers of pulls whose process has died. */
  async sweep(): Promise<void> {
    for (const { name, hex, since } of await this.#entries()) {
      if (Date.now() - since < LEFT_BEHIND_AFTER_MS) continue
      await this.#dropDigest(hex)
      await this.#untag(name)
    }
  }

  /** Like `sweep`, for all pulls. No runtime of the installation may be open. */
  async removeAll(): Promise<void> {
    for (const { name, hex } of await this.#entries()) {
      await this.#dropDigest(hex)
      await this.#untag(name)
    }
  }

  get #prefix(): string {
    return `${PULLING_REPOSITORY}${this.#installation}:`
  }

  async #entries(): Promise<{ name: string; hex: string; since: number }[]> {
    const images = await this.#docker.listImages({ filters: imageFilter(this.#installation, [PULLING_REPOSITORY]) })
    const names = images.flatMap(({ RepoTags }) => (RepoTags ?? []).filter((name) => name.startsWith(this.#prefix)))
    return names.map((name) => {
      const [hex = '', since = ''] = name.slice(this.#prefix.length).split('-')
      return { name, hex, since: Number.parseInt(since, 36) }
    })
  }

  /** Also removes the image, unless it has another name. */
  async #dropDigest(hex: string): Promise<void> {
    const images = await this.#docker.listImages({ digests: true })
    const names = images.flatMap(({ RepoDigests }) => (RepoDigests ?? []).filter((name) => name.endsWith(`@sha256:${hex}`)))
    for (const name of names) await this.#untag(name)
  }

  async #untag(name: string): Promise<void> {
    await unlessStatus(404, () => unlessStatus(409, () => this.#docker.getImage(name).remove()))
  }
}

function hexOf(digest: string): string {
  return digest.replace(/^sha256:/, '')
}
