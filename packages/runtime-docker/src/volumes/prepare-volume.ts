import { pack } from 'tar-stream'
import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { createContainer } from '../containers/create-container.ts'
import { removeContainer } from '../containers/remove-container.ts'
import { volumeMount } from '../containers/volume-mount.ts'
import { unlessStatus } from '../engine/docker-errors.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../engine/empty-image.ts'
import { volumeLabels, volumeNames } from '../labels.ts'

/** Below the root of the container. */
const MOUNT = 'volume'

/**
 * Makes a volume whose root every user may write. The engine makes new volumes writable for root only. The container that changes that is made
 * with the volume and removed last, so a volume without one is ready.
 */
export async function prepareVolume(docker: Docker, installation: string, name: string): Promise<void> {
  const { volume, door } = volumeNames(installation, name)
  if (await isReady(docker, volume, door)) return
  await ensureEmptyImage(docker)
  await createContainer(docker, {
    name: door,
    options: {
      Image: EMPTY_IMAGE,
      Cmd: ['-'],
      NetworkDisabled: true,
      Labels: volumeLabels(installation, name, 'volume-door'),
      HostConfig: { Mounts: [volumeMount(installation, { volume: name, path: `/${MOUNT}`, readOnly: false })] },
    },
  })
  // Another process that found the same container may have removed it: then the volume is ready.
  await unlessStatus(404, () => docker.getContainer(door).putArchive(writableRoot(), { path: '/' }))
  await removeContainer(docker, door)
}

async function isReady(docker: Docker, volume: string, door: string): Promise<boolean> {
  const [found, inWork] = await Promise.all([
    unlessStatus(404, () => docker.getVolume(volume).inspect()),
    unlessStatus(404, () => docker.getContainer(door).inspect()),
  ])
  return found !== undefined && inWork === undefined
}

/** The engine does not change a directory that an archive calls `.`, so this one is unpacked above the volume. */
function writableRoot(): Readable {
  const archive = pack()
  archive.entry({ name: MOUNT, type: 'directory', mode: 0o777, uid: 0, gid: 0 })
  archive.finalize()
  return Readable.from(archive)
}
