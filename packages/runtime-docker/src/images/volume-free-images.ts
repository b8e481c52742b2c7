import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type { ImageRef } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import { unlessStatus } from '../engine/docker-errors.ts'
import { hasVolumes, nameWithoutVolumes } from './image-volumes.ts'
import type { KeptImages } from './kept-images.ts'

export interface VolumeFreeImagesOptions {
  readonly docker: Docker
  readonly installation: string
  readonly kept: KeptImages
}

const MAX_KNOWN = 10_000

/** Takes the volumes away from images that an older version of the server has brought in with them. */
export class VolumeFreeImages {
  readonly #options: VolumeFreeImagesOptions
  readonly #known = new Set<ImageRef>()
  readonly #flight = new SingleFlight<ImageRef, void>()

  constructor(options: VolumeFreeImagesOptions) {
    this.#options = options
  }

  /** Must be called before a sandbox starts from the image. Costs one request for each image. An absent image, or one that is not ours, is success. */
  async ensure(image: ImageRef): Promise<void> {
    if (this.#known.has(image) || !this.#options.kept.owns(image)) return
    await this.#flight.run(image, () => this.#check(image))
  }

  async #check(image: ImageRef): Promise<void> {
    const { docker, installation } = this.#options
    const source = await unlessStatus(404, () => docker.getImage(image).inspect())
    if (source === undefined) return
    if (hasVolumes(source)) await nameWithoutVolumes(docker, { source, name: image, installation })
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.add(image)
  }
}
