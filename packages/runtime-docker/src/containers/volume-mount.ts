import type { MountSettings } from 'dockerode'
import type { SandboxMount } from '@sandyard/runtime/types'
import { volumeLabels, volumeNames } from '../labels.ts'
import { driverConfig, LOCAL_DRIVER, type DriverConfig, type VolumeDriver } from '../volumes/volume-driver.ts'
import type { ContainerPlan } from './container-spec.ts'

/** The files of the daemon, read-only. */
export function daemonMount({ volume, mount, labels }: ContainerPlan['daemon']): MountSettings {
  return toMount({ volume, path: mount, readOnly: true }, labels, driverConfig(LOCAL_DRIVER, volume))
}

/**
 * A volume of the volume store, with the driver that it has. The labels are for a volume that the engine makes for a container, when it was removed meanwhile.
 *
 * @param driver of a volume that the container makes
 */
export function volumeMount(installation: string, { volume: name, path, readOnly }: SandboxMount, driver?: VolumeDriver): MountSettings {
  const { volume } = volumeNames(installation, name)
  const config = driver === undefined ? undefined : driverConfig(driver, volume)
  return toMount({ volume, path, readOnly }, volumeLabels(installation, name, 'volume'), config)
}

/** Without a copy: else the engine would put files of the image at the path into an empty volume. */
function toMount({ volume, path, readOnly }: SandboxMount, labels: Readonly<Record<string, string>>, driver?: DriverConfig): MountSettings {
  return {
    Type: 'volume',
    Source: volume,
    Target: path,
    ReadOnly: readOnly,
    VolumeOptions: { NoCopy: true, Labels: { ...labels }, ...(driver !== undefined && { DriverConfig: driver }) },
  } as MountSettings
}
