import type Docker from 'dockerode'
import { unlessStatus } from '../../engine/docker-errors.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../../engine/empty-image.ts'
import { imageFilter, PULLING_REPOSITORY } from '../../labels.ts'
import { tagImage } from '../kept-images.ts'

/** No pull takes as long: what is older was left by a process that died. */
const LEFT_BEHIND_AFTER_MS = 6 * 60 * 60 * 1000

/**
 * The digests that are being pulled, written down as names of the empty image. An image that is pulled by its digest has no name but
 * that digest until it gets one of ours; when the process dies in between, this is how it is found again.
 */
export class PullJournal {
  readonly #docker: Docker
  readonly #installation: string

  constructor(docker: Docker, installation: string) {
    this.#docker = docker
    this.#installation = installation
  }

  /** Writes a pull down, does it, and crosses it out again. */
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

  /** Whether some process of this installation is pulling it, or has died while it did. */
  async has(digest: string): Promise<boolean> {
    return (await this.#entries()).some(({ hex }) => hex === hexOf(digest))
  }

  /** Takes away what pulls have left behind whose process died. */
  async sweep(): Promise<void> {
    for (const { name, hex, since } of await this.#entries()) {
      if (Date.now() - since < LEFT_BEHIND_AFTER_MS) continue
      await this.#dropDigest(hex)
      await this.#untag(name)
    }
  }

  /** As `sweep`, of all pulls. No runtime of the installation may be open. */
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

  /** The image goes with its digest unless it has another name. */
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
