import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type Docker from 'dockerode'
import { checkSnapshotName } from '@sandyard/runtime/snapshot-name'
import type { RuntimeSnapshot, SandboxRef } from '@sandyard/runtime/types'
import { unlessStatus } from '../engine/docker-errors.ts'
import { imageExists } from '../images/image-exists.ts'
import { containerName, LABEL, snapshotImage } from '../labels.ts'

/** Files of sandboxes, kept as images of the engine: one image a snapshot, tagged and labelled with the installation. */
export class Snapshots {
  readonly #docker: Docker
  readonly #installation: string
  readonly #flight = new SingleFlight<string, void>()

  constructor(docker: Docker, installation: string) {
    this.#docker = docker
    this.#installation = installation
  }

  async take(ref: SandboxRef, name: string): Promise<RuntimeSnapshot> {
    checkSnapshotName(name)
    const image = snapshotImage(this.#installation, name)
    await this.#flight.run(image, async () => {
      if (!(await imageExists(this.#docker, image))) await this.#commit(ref, name, image)
    })
    return { image, hasMemory: false }
  }

  /** An image that sandboxes still run from loses its name only; `sweep` removes it when they are gone. Absent is success. */
  async delete({ image }: RuntimeSnapshot): Promise<void> {
    const prefix = snapshotImage(this.#installation, '')
    if (!image.startsWith(prefix)) return
    await unlessStatus(404, () => this.#docker.getImage(image).remove({ force: true }))
    await this.sweep()
  }

  /** Removes the images whose snapshot was deleted. Those in use stay. */
  async sweep(): Promise<void> {
    const label = [`${LABEL.installation}=${this.#installation}`, `${LABEL.role}=snapshot`]
    const nameless = await this.#docker.listImages({ filters: JSON.stringify({ dangling: ['true'], label }) })
    for (const { Id } of nameless) {
      await unlessStatus(404, () => unlessStatus(409, () => this.#docker.getImage(Id).remove()))
    }
  }

  /**
   * The engine freezes the container while it reads its files, so they are of one instant. It copies the container's settings into
   * the image where none are given, so all that was the sandbox's own is given as empty: its identity, and what the daemon was told.
   */
  async #commit(ref: SandboxRef, name: string, image: string): Promise<void> {
    const container = this.#docker.getContainer(containerName(this.#installation, ref))
    const { Id, Config } = await container.inspect()
    const [repo, tag] = image.split(':')
    const ownVariables = Config.Env.map((entry) => entry.split('=')[0] ?? '').filter((key) => key.startsWith('SANDYARD_'))
    await container.commit({
      _query: { container: Id, repo, tag, pause: true },
      _body: {
        Entrypoint: [],
        Env: ownVariables.map((key) => `${key}=`),
        Labels: {
          [LABEL.installation]: this.#installation,
          [LABEL.role]: 'snapshot',
          [LABEL.snapshot]: name,
          [LABEL.sandboxId]: '',
          [LABEL.incarnation]: '',
        },
      },
    })
  }
}
