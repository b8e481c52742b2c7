import { silentLogger } from '@sandyard/kit/logging/create-logger'
import type Docker from 'dockerode'
import { removeContainer } from './containers/remove-container.ts'
import { engineCall, unlessStatus } from './engine/docker-errors.ts'
import { KeptImages } from './images/kept-images.ts'
import { PullJournal } from './images/registry/pull-journal.ts'
import { compileDeletion } from './egress/base-rules.ts'
import { Guard } from './egress/guard.ts'
import { guardImage } from './egress/guard-image.ts'
import { imageExists } from './engine/image-exists.ts'
import { bridgeName, LABEL } from './labels.ts'
import { SandboxNetwork } from './network/sandbox-network.ts'

/**
 * Removes everything that an installation has on an engine: sandboxes with their files, guards, images, the network.
 * The egress rules
 * (`removeEgressRules`), shared daemon volumes and images stay. No runtime of the installation may be open.
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

/** Removes the egress rules of installations from the engine's host. No runtime of them may be open. Without the guard's image there are none. */
export async function removeEgressRules(docker: Docker, installations: readonly string[]): Promise<void> {
  const image = await guardImage()
  const [first] = installations
  if (first === undefined || !(await imageExists(docker, image))) return
  const listeners = { onHost: () => undefined, onLost: () => undefined }
  await using guard = await Guard.start(docker, { installation: first, image, log: silentLogger(), ...listeners })
  for (const installation of installations) {
    await guard.apply(compileDeletion(installation))
    await guard.passUnmarked(bridgeName(installation))
  }
}
