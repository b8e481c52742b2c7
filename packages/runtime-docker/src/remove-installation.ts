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
import { bridgeName, LABEL, roleFilter } from './labels.ts'
import { SandboxNetwork } from './network/sandbox-network.ts'

/**
 * Removes everything that installations have on an engine: sandboxes with their files, volumes, guards, images, the network and the egress rules.
 * Shared daemon volumes and images stay. No runtime of the installations may be open.
 */
export function removeInstallations(docker: Docker, installations: readonly string[]): Promise<void> {
  return engineCall('The installation could not be removed.', async () => {
    for (const installation of installations) await removeContainers(docker, installation)
    // Before the networks: the engine gives their subnets to others, for whom the rules are not meant.
    await removeEgressRules(docker, installations)
    for (const installation of installations) await removeRest(docker, installation)
  })
}

async function removeContainers(docker: Docker, installation: string): Promise<void> {
  const containers = await docker.listContainers({ all: true, filters: labelFilter(installation) })
  for (const { Id } of containers) await removeContainer(docker, Id)
}

async function removeRest(docker: Docker, installation: string): Promise<void> {
  await new KeptImages(docker, installation).removeAll()
  await new PullJournal(docker, installation).removeAll()
  const images = await docker.listImages({ filters: labelFilter(installation) })
  for (const { Id } of images) await unlessStatus(404, () => docker.getImage(Id).remove({ force: true }))
  const { Volumes: volumes } = await docker.listVolumes({ filters: roleFilter(installation, 'volume') })
  for (const { Name } of volumes) await unlessStatus(404, () => docker.getVolume(Name).remove())
  await new SandboxNetwork(docker, installation).remove()
}

function labelFilter(installation: string): string {
  return JSON.stringify({ label: [`${LABEL.installation}=${installation}`] })
}

/** Without the guard's image there are none. */
async function removeEgressRules(docker: Docker, installations: readonly string[]): Promise<void> {
  const image = await guardImage()
  const [first] = installations
  if (first === undefined || !(await imageExists(docker, image))) return
  const listeners = { onHost: () => undefined, onLost: () => undefined, onRefused: () => undefined }
  await using guard = await Guard.start(docker, { installation: first, image, log: silentLogger(), ...listeners })
  for (const installation of installations) {
    await guard.apply(compileDeletion(installation))
    await guard.passUnmarked(bridgeName(installation))
  }
}
