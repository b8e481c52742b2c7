import { Readable } from 'node:stream'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { MountSettings } from 'dockerode'
import { pack } from 'tar-stream'
import { createContainer } from '../containers/create-container.ts'
import { removeContainer } from '../containers/remove-container.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../engine/empty-image.ts'
import { volumeLabels, volumeNames } from '../labels.ts'
import { DOOR_MOUNT } from './volume-door.ts'
import { placeAbove, type DriverConfig, type VolumeDriver } from './volume-driver.ts'

/** The place above the directories of volumes, as a volume of a container that goes with it. */
export function placeMount(place: DriverConfig, path: string): MountSettings {
  return { Type: 'volume', Source: '', Target: path, VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: place } }
}

/** Makes the directory of a volume where its driver does not; nothing when it exists. */
export async function makePlace(docker: Docker, installation: string, name: string, driver: VolumeDriver): Promise<void> {
  const place = placeAbove(driver)
  if (place === undefined) return
  await ensureEmptyImage(docker)
  const container = `sandyard-volcopy-${randomId(16)}`
  try {
    await createContainer(docker, {
      name: container,
      options: {
        Image: EMPTY_IMAGE,
        Cmd: ['-'],
        NetworkDisabled: true,
        Labels: volumeLabels(installation, name, 'volume-copy'),
        HostConfig: { Mounts: [placeMount(place, `/${DOOR_MOUNT}`)] },
      },
    })
    const archive = pack()
    archive.entry({ name: `${DOOR_MOUNT}/${volumeNames(installation, name).volume}`, type: 'directory', mode: 0o777, uid: 0, gid: 0 })
    archive.finalize()
    await docker.getContainer(container).putArchive(Readable.from(archive), { path: '/' })
  } finally {
    await removeContainer(docker, container)
  }
}
