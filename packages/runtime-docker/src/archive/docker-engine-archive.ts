import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { EngineArchive } from '@sandyard/runtime/engine-archive'
import type { ImageRef, RuntimeSnapshot, SandboxRef } from '@sandyard/runtime/types'
import { engineCall, statusOf, toAppError } from '../engine/docker-errors.ts'
import { engineId } from '../engine/engine-id.ts'
import { followAnswer } from '../engine/follow-answer.ts'
import { imageExists } from '../engine/image-exists.ts'
import { roleFilter } from '../labels.ts'
import { KeptImages } from '../images/kept-images.ts'
import { originOf } from '../runtime-origin.ts'
import { Snapshots } from '../snapshots/snapshots.ts'
import { listVolumes } from '../volumes/list-volumes.ts'
import { restoreVolume } from '../volumes/prepare-volume.ts'
import { saveVolume } from '../volumes/save-volume.ts'
import { LOCAL_DRIVER, type VolumeDriver } from '../volumes/volume-driver.ts'
import { wholeTar } from './whole-tar.ts'

/** dockerode has this call, and its types do not. */
type WithGetImages = Docker & { getImages(options: { readonly names: readonly string[] }): Promise<Readable> }

/** The engine of an installation for its backups, by one connection and without the parts of a runtime. */
export class DockerEngineArchive implements EngineArchive {
  readonly #docker: Docker
  readonly #installation: string
  readonly #snapshots: Snapshots
  readonly #kept: KeptImages
  readonly #volumeDriver: VolumeDriver

  /** @param volumeDriver of the volumes that a restore makes */
  constructor(docker: Docker, installation: string, volumeDriver: VolumeDriver = LOCAL_DRIVER) {
    this.#volumeDriver = volumeDriver
    this.#docker = docker
    this.#installation = installation
    this.#snapshots = new Snapshots({ docker, installation, origin: originOf(docker), maxLayers: undefined })
    this.#kept = new KeptImages(docker, installation)
  }

  engineId(signal: AbortSignal): Promise<string> {
    return engineId(this.#docker, signal)
  }

  /** Whether a server of the installation runs with the engine: its guard runs as long as it does. */
  async isServed(): Promise<boolean> {
    const filters = roleFilter(this.#installation, 'guard')
    const running = await engineCall('The containers could not be listed.', () => this.#docker.listContainers({ filters }))
    return running.length > 0
  }

  async snapshot(ref: SandboxRef, name: string): Promise<RuntimeSnapshot> {
    try {
      return await this.#snapshots.take(ref, { name, keep: 'files' })
    } catch (err) {
      if (statusOf(err) === 404) throw new AppError('not_found', `Sandbox "${ref.sandboxId}" does not exist.`, { cause: err })
      throw toAppError(err, `The files of the sandbox "${ref.sandboxId}" could not be stored.`)
    }
  }

  deleteSnapshot({ image }: RuntimeSnapshot): Promise<void> {
    return engineCall('The snapshot could not be deleted.', () => this.#kept.remove(image))
  }

  imageExists(image: ImageRef): Promise<boolean> {
    return engineCall('The image could not be looked up.', () => imageExists(this.#docker, image))
  }

  async save(images: readonly ImageRef[]): Promise<Readable> {
    const stream = await engineCall('The images could not be read.', () => (this.#docker as WithGetImages).getImages({ names: images }))
    return Readable.from(wholeTar(stream), { objectMode: false })
  }

  listVolumes(): Promise<readonly string[]> {
    return listVolumes(this.#docker, this.#installation)
  }

  saveVolume(name: string): Promise<Readable> {
    return saveVolume(this.#docker, this.#installation, name)
  }

  loadVolume(name: string, archive: AsyncIterable<Uint8Array>): Promise<boolean> {
    return this.#take(archive, 'the files of a volume', (source) =>
      restoreVolume(this.#docker, this.#installation, { name, driver: this.#volumeDriver, archive: source }),
    )
  }

  load(archive: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#take(archive, 'the images', async (source) => followAnswer(await this.#docker.loadImage(source, { quiet: true })))
  }

  /** Lets the engine read an archive. */
  async #take<T>(archive: AsyncIterable<Uint8Array>, what: string, read: (source: Readable) => Promise<T>): Promise<T> {
    const source = Readable.from(archive, { objectMode: false })
    const broken = new Promise<never>((_, reject) => source.once('error', reject))
    broken.catch(() => undefined)
    try {
      return await Promise.race([read(source), broken])
    } catch (err) {
      if (isAppError(err)) throw err
      const reason = err instanceof Error ? err.message : 'no reason'
      throw new AppError('failed_precondition', `The Docker engine did not take ${what} (${reason}).`, { cause: err })
    } finally {
      source.destroy()
    }
  }
}
