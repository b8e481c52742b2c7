import type Docker from 'dockerode'
import { removeContainer } from './containers/remove-container.ts'
import { engineCall, unlessStatus } from './engine/docker-errors.ts'
import { KeptImages } from './images/kept-images.ts'
import { PullJournal } from './images/registry/pull-journal.ts'
import { LABEL } from './labels.ts'
import { SandboxNetwork } from './network/sandbox-network.ts'

/**
 * Removes everything that an installation has on an engine: sandboxes with their files, guards, images, the network.
 * Shared daemon volumes and images stay. No runtime of the installation may be open.
 */
export function removeInstallation(docker: Docker, installation: string): Promise<void> {
  return engineCall('The installation could not be removed.', async () => {
    const filters = JSON.stringify({ label: [`${LABEL.installation}=${installation}`] })
    const containers = await docker.listContainers({ all: true, filters })
    for (const { Id } of containers) await removeContainer(docker, Id)
    await new KeptImages(docker, installation).removeAll()
    await new PullJournal(docker, installation).removeAll()
    const images = await docker.listImages({ filters })
    for (const { Id } of images) await unlessStatus(404, () => docker.getImage(Id).remove({ force: true }))
    await new SandboxNetwork(docker, installation).remove()
  })
}
