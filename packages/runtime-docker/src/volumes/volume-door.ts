import type Docker from 'dockerode'
import { createContainer } from '../containers/create-container.ts'
import { volumeMount } from '../containers/volume-mount.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../engine/empty-image.ts'
import { type Role, volumeLabels } from '../labels.ts'
import type { VolumeDriver } from './volume-driver.ts'

/** Below the root of the container. */
export const DOOR_MOUNT = 'volume'

export interface VolumeDoor {
  /** Of the volume in the volume store. */
  readonly name: string
  readonly container: string
  readonly role: Role
  readonly readOnly: boolean
  /** For a volume that the engine makes with the container. */
  readonly driver?: VolumeDriver
}

/** Creates a container that is never started, through which the files of a volume are read and written. An existing one is success. */
export async function createDoor(
  docker: Docker,
  installation: string,
  { name, container, role, readOnly, driver }: VolumeDoor,
): Promise<void> {
  await ensureEmptyImage(docker)
  await createContainer(docker, {
    name: container,
    options: {
      Image: EMPTY_IMAGE,
      Cmd: ['-'],
      NetworkDisabled: true,
      Labels: volumeLabels(installation, name, role),
      HostConfig: { Mounts: [volumeMount(installation, { volume: name, path: `/${DOOR_MOUNT}`, readOnly }, driver)] },
    },
  })
}
