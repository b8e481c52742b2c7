import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type Docker from 'dockerode'
import type { ContainerInspectInfo, ImageInspectInfo } from 'dockerode'
import { checkSnapshotName } from '@sandyard/runtime/snapshot-name'
import type { RuntimeSnapshot, SandboxRef } from '@sandyard/runtime/types'
import { unlessStatus } from '../engine/docker-errors.ts'
import { imageExists } from '../images/image-exists.ts'
import { containerName, LABEL, snapshotImage } from '../labels.ts'
import { flattenImage } from './flatten-image.ts'

export interface SnapshotsOptions {
  readonly docker: Docker
  readonly installation: string
  /** An image of so many layers is made into one of few. */
  readonly maxLayers: number | undefined
}

/** The engine's storage (overlay2) mounts 125 layers at most; the rest is for what images are built on top. */
const DEFAULT_MAX_LAYERS = 100

/** Files of sandboxes, kept as images of the engine: one image a snapshot, tagged and labelled with the installation. */
export class Snapshots {
  readonly #options: SnapshotsOptions
  readonly #flight = new SingleFlight<string, void>()

  constructor(options: SnapshotsOptions) {
    this.#options = options
  }

  async take(ref: SandboxRef, name: string): Promise<RuntimeSnapshot> {
    checkSnapshotName(name)
    const { docker, installation, maxLayers = DEFAULT_MAX_LAYERS } = this.#options
    const image = snapshotImage(installation, name)
    await this.#flight.run(image, async () => {
      if (await imageExists(docker, image)) return
      await this.#commit(ref, name, image)
      // It is whole already: a process that dies here leaves a snapshot that works.
      const { RootFS } = await docker.getImage(image).inspect()
      if ((RootFS.Layers?.length ?? 0) >= maxLayers) await flattenImage(docker, { image, installation })
    })
    return { image, hasMemory: false }
  }

  /** The engine freezes the container while it reads its files, so they are of one instant. */
  async #commit(ref: SandboxRef, name: string, image: string): Promise<void> {
    const { docker, installation } = this.#options
    const found = await docker.getContainer(containerName(installation, ref)).inspect()
    const source = await unlessStatus(404, () => docker.getImage(found.Image).inspect())
    const [repo, tag] = image.split(':')
    await docker.getContainer(found.Id).commit({
      _query: { container: found.Id, repo, tag, pause: true },
      _body: {
        ...settingsOf(found, source),
        Labels: {
          [LABEL.installation]: installation,
          [LABEL.role]: 'snapshot',
          [LABEL.snapshot]: name,
          [LABEL.sandboxId]: '',
          [LABEL.incarnation]: '',
          [LABEL.build]: '',
        },
      },
    })
  }
}

/**
 * What the image that the sandbox came from says, and nothing that was the sandbox's own. The engine takes the container's settings
 * where none are given and cannot be told to forget a variable, so those that the daemon got are named without a value, which takes
 * them out of every container.
 */
function settingsOf({ Config }: ContainerInspectInfo, source: ImageInspectInfo | undefined): object {
  const kept = source?.Config.Env ?? Config.Env.filter((entry) => !entry.startsWith('SANDYARD_'))
  const entries = new Map(kept.map((entry) => [nameOf(entry), entry]))
  return {
    Entrypoint: [],
    Env: Config.Env.map((entry) => entries.get(nameOf(entry)) ?? nameOf(entry)),
    User: source?.Config.User ?? '',
    WorkingDir: source?.Config.WorkingDir ?? '',
  }
}

function nameOf(entry: string): string {
  return entry.split('=', 1)[0] ?? ''
}
