import { KeyedQueue } from '../../engine/keyed-queue.ts'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import type { ImageFacts, RegistryCredentials } from '@sandyard/runtime/image-store'
import type Docker from 'dockerode'
import type { AuthConfig } from 'dockerode'
import { unlessStatus } from '../../engine/docker-errors.ts'
import { toFacts } from '../image-facts.ts'
import { imageExists } from '../../engine/image-exists.ts'
import type { ImageReference } from '../image-reference.ts'
import { hasVolumes, nameWithoutVolumes } from '../image-volumes.ts'
import { checkSize } from '../image-size.ts'
import { checkWorkdir } from '../check-workdir.ts'
import { tagImage, type KeptImages } from '../kept-images.ts'
import { askRegistry } from './ask-registry.ts'
import { pullDigest } from './pull-digest.ts'
import type { PullJournal } from './pull-journal.ts'
import { registryUnreachable, toRegistryError } from './registry-errors.ts'
import { registryLogin } from './registry-login.ts'
import type { EcrEndpoint } from './ecr-login.ts'

export interface PullerOptions {
  readonly docker: Docker
  readonly installation: string
  readonly kept: KeptImages
  readonly journal: PullJournal
  readonly ecrEndpoint: EcrEndpoint
  /** For the request for a password: the pull is the engine's, with the settings of the engine. */
  readonly outbound: Outbound
  readonly maxSizeBytes: number
  /** Deadline of the first answer of the registry, with the request for its password. */
  readonly firstAnswerMs: number
}

export interface RegistryPull {
  readonly credentials: RegistryCredentials | undefined
  readonly onLine: ((line: string) => void) | undefined
  readonly signal: AbortSignal | undefined
}

/**
 * Pulls images from registries. The registry returns the digest of a tag, and the image is pulled by this digest. So the engine never
 * has a tag by which another team could use an image that needs credentials.
 */
export class Puller {
  readonly #options: PullerOptions
  readonly #turns = new KeyedQueue()

  constructor(options: PullerOptions) {
    this.#options = options
  }

  async pull(reference: ImageReference, { credentials, onLine, signal }: RegistryPull): Promise<ImageFacts> {
    try {
      const { login, digest } = await this.#ask(reference, credentials, signal)
      const repositoryDigest = `${reference.repository}@${digest}`
      // One at a time: each pull removes the digest at its end, and concurrent ones would use it.
      return await this.#turns.run(repositoryDigest, () => this.#bring(reference, { repositoryDigest, digest, login, onLine, signal }))
    } catch (err) {
      signal?.throwIfAborted()
      throw toRegistryError(err, reference, credentials !== undefined)
    }
  }

  async #ask(
    reference: ImageReference,
    credentials: RegistryCredentials | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ login: AuthConfig | undefined; digest: string }> {
    const { docker, ecrEndpoint, outbound, firstAnswerMs } = this.#options
    const limit = AbortSignal.timeout(firstAnswerMs)
    const until = signal === undefined ? limit : AbortSignal.any([signal, limit])
    const request = { ecrEndpoint, outbound, signal: until }
    try {
      const login = credentials === undefined ? undefined : await registryLogin(reference, credentials, request)
      return { login, digest: await askRegistry(docker, reference, { login, signal: until }) }
    } catch (err) {
      if (limit.aborted && !signal?.aborted) throw registryUnreachable(reference.text, err)
      throw err
    }
  }

  async #bring(reference: ImageReference, request: DigestRequest): Promise<ImageFacts> {
    const { docker, journal } = this.#options
    const { repositoryDigest, digest } = request
    request.signal?.throwIfAborted()
    const wasThere = (await imageExists(docker, repositoryDigest)) && !(await journal.has(digest))
    if (wasThere) return this.#pullAndKeep(reference, request)
    return journal.during(digest, async () => {
      try {
        return await this.#pullAndKeep(reference, request)
      } finally {
        await unlessStatus(404, () => unlessStatus(409, () => docker.getImage(repositoryDigest).remove()))
      }
    })
  }

  async #pullAndKeep(reference: ImageReference, { repositoryDigest, login, onLine, signal }: DigestRequest): Promise<ImageFacts> {
    const { docker, installation, kept, maxSizeBytes } = this.#options
    await pullDigest(docker, repositoryDigest, { text: reference.text, login, onLine, signal, maxSizeBytes })
    const found = await docker.getImage(repositoryDigest).inspect()
    checkSize(`image '${reference.text}'`, found.Size, maxSizeBytes)
    checkWorkdir(`image '${reference.text}'`, found)
    signal?.throwIfAborted()
    const name = kept.newName()
    if (hasVolumes(found)) await nameWithoutVolumes(docker, { source: found, name, installation })
    else await tagImage(docker, found.Id, name)
    return toFacts(name, found)
  }
}

interface DigestRequest {
  readonly repositoryDigest: string
  readonly digest: string
  readonly login: AuthConfig | undefined
  readonly onLine: ((line: string) => void) | undefined
  readonly signal: AbortSignal | undefined
}
