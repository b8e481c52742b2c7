import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type Docker from 'dockerode'
import { checkSnapshotName } from '@sandyard/runtime/snapshot-name'
import type { RuntimeSnapshot, SandboxRef } from '@sandyard/runtime/types'
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
