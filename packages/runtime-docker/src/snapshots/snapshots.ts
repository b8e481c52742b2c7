import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Origin } from '@sandyard/runtime/origin'
import type { SnapshotRequest } from '@sandyard/runtime/sandbox-runtime'
import type Docker from 'dockerode'
import { checkSnapshotName } from '@sandyard/runtime/snapshot-name'
import type { ImageRef, RuntimeSnapshot, SandboxRef } from '@sandyard/runtime/types'
import { runtimeState } from '../containers/container-state.ts'
import { readSpec } from '../containers/spec-label.ts'
import { imageExists } from '../engine/image-exists.ts'
import { freeze, thaw } from '../pauses/pause-sandbox.ts'
import { containerName, LABEL, snapshotImage } from '../labels.ts'
import { flattenImage } from '../images/flatten-image.ts'
import { commitFiles } from './commit-files.ts'

export interface SnapshotsOptions {
  readonly docker: Docker
  readonly installation: string
  readonly origin: () => Promise<Origin>
  /** An image with this many layers is flattened. */
  readonly maxLayers: number | undefined
}

/** The engine's storage (overlay2) mounts 125 layers at most; the rest is reserved for images that are built on top. */
const DEFAULT_MAX_LAYERS = 100

/** Files of sandboxes, stored as images of the engine: one image for each snapshot, tagged and labelled with the installation. */
export class Snapshots {
  readonly #options: SnapshotsOptions
  readonly #flight = new SingleFlight<string, void>()

  constructor(options: SnapshotsOptions) {
    this.#options = options
  }

  async take(ref: SandboxRef, { name, keep }: SnapshotRequest): Promise<RuntimeSnapshot> {
    checkSnapshotName(name)
    if (keep === 'memory') throw new AppError('unimplemented', 'This runtime keeps no memory in a snapshot.')
    const { docker, installation, maxLayers = DEFAULT_MAX_LAYERS } = this.#options
    const image = snapshotImage(installation, name)
    await this.#flight.run(image, async () => {
      if (await imageExists(docker, image)) return
      await this.#commit(ref, name, image)
      // The snapshot is complete: it works even when the process dies here.
      const { RootFS } = await docker.getImage(image).inspect()
      if ((RootFS.Layers?.length ?? 0) < maxLayers) return
      const labels = { [LABEL.sizeBytes]: String(await addedBytes(docker, image)) }
      await flattenImage(docker, { image, installation, labels })
    })
    return this.#describe(image)
  }

  async #describe(image: ImageRef): Promise<RuntimeSnapshot> {
    const { docker, origin } = this.#options
    const { Config } = await docker.getImage(image).inspect()
    // A flattened image shares nothing with others; its label has what the snapshot added before.
    const flattened = Config.Labels[LABEL.sizeBytes] ?? ''
    const sizeBytes = flattened === '' ? await addedBytes(docker, image) : Number(flattened)
    return { ...(await origin()), image, hasMemory: false, sizeBytes, spec: readSpec(Config.Labels) }
  }

  /**
   * The container is frozen while the engine reads the files, so they are of one instant. The engine could freeze it by itself, but it
   * ignores a freeze that fails. If this process dies meanwhile, the control plane finds the sandbox frozen and thaws it.
   */
  async #commit(ref: SandboxRef, name: string, image: string): Promise<void> {
    const { docker, installation } = this.#options
    const found = await docker.getContainer(containerName(installation, ref)).inspect()
    const container = docker.getContainer(found.Id)
    const isRunning = runtimeState(found.State.Status) === 'running'
    if (isRunning) await freeze(container)
    try {
      const labels = { [LABEL.role]: 'snapshot', [LABEL.snapshot]: name }
      await commitFiles(docker, found, { installation, labels, image })
    } finally {
      if (isRunning) await thaw(container)
    }
  }
}

/** The size of the last layer, which a commit added to its image. */
async function addedBytes(docker: Docker, image: ImageRef): Promise<number> {
  const [last] = (await docker.getImage(image).history()) as { readonly Size: number }[]
  return last?.Size ?? 0
}
