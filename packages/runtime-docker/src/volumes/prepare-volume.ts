import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { pack } from 'tar-stream'
import { removeContainer } from '../containers/remove-container.ts'
import { unlessStatus } from '../engine/docker-errors.ts'
import { volumeNames } from '../labels.ts'
import { createDoor, DOOR_MOUNT } from './volume-door.ts'
import type { VolumeDriver } from './volume-driver.ts'
import { makePlace } from './volume-place.ts'

/** Makes a volume whose root every user may write: the engine makes new volumes writable for root only. */
export async function prepareVolume(docker: Docker, installation: string, name: string, driver: VolumeDriver): Promise<void> {
  const { door } = volumeNames(installation, name)
  // Another process that found the same container may have removed it: then the volume is ready.
  const fill = () => unlessStatus(404, () => docker.getContainer(door).putArchive(writableRoot(), { path: '/' }))
  await fillVolume(docker, installation, { name, driver, fill })
}

/**
 * Makes a volume and fills it with an archive of `saveVolume`. After a failure the same call begins again.
 *
 * @returns false when the engine has the volume, which then stays as it is; nothing of the archive was read
 */
export function restoreVolume(
  docker: Docker,
  installation: string,
  { name, driver, archive }: Pick<Filling, 'name' | 'driver'> & { readonly archive: Readable },
): Promise<boolean> {
  const { door } = volumeNames(installation, name)
  // The option also gives the call the time of a restore.
  const options = { path: '/', noOverwriteDirNonDir: '1' }
  return fillVolume(docker, installation, { name, driver, fill: () => docker.getContainer(door).putArchive(archive, options) })
}

interface Filling {
  /** In the volume store. */
  readonly name: string
  readonly driver: VolumeDriver
  readonly fill: () => Promise<unknown>
}

/** The container is made with the volume and removed last, so a volume without one is ready. */
async function fillVolume(docker: Docker, installation: string, { name, driver, fill }: Filling): Promise<boolean> {
  const { volume, door } = volumeNames(installation, name)
  if (await isReady(docker, volume, door)) return false
  await makePlace(docker, installation, name, driver)
  await createDoor(docker, installation, { name, container: door, role: 'volume-door', readOnly: false, driver })
  await fill()
  await removeContainer(docker, door)
  return true
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
  archive.entry({ name: DOOR_MOUNT, type: 'directory', mode: 0o777, uid: 0, gid: 0 })
  archive.finalize()
  return Readable.from(archive)
}
