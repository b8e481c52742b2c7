import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type { DockerfileRequest, ImageFacts, ImageStore, KeptImage, PullRequest } from '../image-store.ts'
import type { ImageRef } from '../types.ts'
import type { FakeEngine, FakeImage, FakeImageFacts } from './fake-engine.ts'
import type { Faults } from './faults.ts'

/** Image names with this prefix belong to an installation. */
export const IMAGE_PREFIX = 'fake-image/'

export interface FakeImageStoreParts {
  readonly installation: string
  readonly engine: FakeEngine
  readonly exists: (image: ImageRef) => boolean
  readonly factsOf: (source: string) => Partial<FakeImageFacts>
  readonly call: Faults['run']
}

/** Close to the syntax of references that engines accept. */
const REFERENCE = /^[a-z0-9][a-zA-Z0-9_./:-]*(?:@sha256:[0-9a-f]{64})?$/

const NO_FACTS: FakeImageFacts = { env: {}, workdir: undefined, user: undefined, sizeBytes: 0 }

/** Images are only names. A pull finds the names that exist; a build returns the facts that the test set for the text of the Dockerfile. */
export class FakeImageStore implements ImageStore {
  readonly #parts: FakeImageStoreParts

  constructor(parts: FakeImageStoreParts) {
    this.#parts = parts
  }

  pull({ reference, credentials }: PullRequest, signal?: AbortSignal): Promise<ImageFacts> {
    const { call, exists, factsOf } = this.#parts
    return call(
      'images.pull',
      () => {
        if (!reference.startsWith(IMAGE_PREFIX) && !REFERENCE.test(reference))
          throw new AppError('invalid_argument', `'${reference}' is not a valid image reference`)
        if (reference.startsWith(IMAGE_PREFIX) || !exists(reference)) {
          throw new AppError('not_found', `image '${reference}' not found: the image or tag does not exist in the registry`)
        }
        if (credentials === undefined) return { ...NO_FACTS, ...factsOf(reference), image: reference }
        return this.#make(factsOf(reference))
      },
      signal,
    )
  }

  buildDockerfile({ dockerfile, within, onLine }: DockerfileRequest, signal?: AbortSignal): Promise<ImageFacts> {
    const { call, engine, installation, factsOf } = this.#parts
    return call(
      'images.buildDockerfile',
      () => {
        const sandbox = engine.find(installation, within)
        if (sandbox === undefined) throw new AppError('not_found', `Sandbox "${within.sandboxId}" does not exist.`)
        if (sandbox.state !== 'running') throw new AppError('failed_precondition', `Sandbox "${within.sandboxId}" is not running.`)
        const instructions = dockerfile.split('\n').filter((line) => line.trim() !== '')
        instructions.forEach((instruction, index) => onLine?.(`Step ${index + 1}/${instructions.length} : ${instruction}`))
        return this.#make(factsOf(dockerfile))
      },
      signal,
    )
  }

  inspect(image: ImageRef): Promise<ImageFacts> {
    return this.#parts.call('images.inspect', () => {
      if (!this.#parts.exists(image)) throw new AppError('not_found', `Image "${image}" does not exist.`)
      return { ...this.factsOf(image), image }
    })
  }

  list(): Promise<KeptImage[]> {
    const { call, engine, installation } = this.#parts
    return call('images.list', () =>
      [...engine.images].flatMap(([image, kept]) => (kept.installation === installation ? [{ image, createdAt: kept.createdAt }] : [])),
    )
  }

  remove(image: ImageRef): Promise<void> {
    return this.#parts.call('images.remove', () => this.drop(image))
  }

  /** Returns the name of an image of this installation. */
  nameOf(name: string): ImageRef {
    return `${IMAGE_PREFIX}${this.#parts.installation}/${name}`
  }

  factsOf(image: ImageRef): FakeImageFacts {
    return this.#parts.engine.images.get(image)?.facts ?? { ...NO_FACTS, ...this.#parts.factsOf(image) }
  }

  keep(image: ImageRef, contents: Omit<FakeImage, 'installation' | 'createdAt'>): void {
    const { engine, installation } = this.#parts
    engine.images.set(image, { ...contents, installation, createdAt: new Date() })
  }

  /** Removes an image of this installation. Sandboxes that run from it keep their files. */
  drop(image: ImageRef): void {
    const { engine, installation } = this.#parts
    if (engine.images.get(image)?.installation === installation) engine.images.delete(image)
  }

  #make(facts: Partial<FakeImageFacts>): ImageFacts {
    const image = this.nameOf(`made-${randomId(12)}`)
    const whole = { ...NO_FACTS, ...facts }
    this.keep(image, { files: new Map(), facts: whole })
    return { ...whole, image }
  }
}
