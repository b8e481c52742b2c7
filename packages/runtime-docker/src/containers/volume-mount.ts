import type { MountSettings } from 'dockerode'
import type { SandboxMount } from '@sandyard/runtime/types'
import { volumeLabels, volumeNames } from '../labels.ts'
import type { ContainerPlan } from './container-spec.ts'

/** The files of the daemon, read-only. */
export function daemonMount({ volume, mount, labels }: ContainerPlan['daemon']): MountSettings {
  return toMount({ volume, path: mount, readOnly: true }, labels)
}

/** A volume of the volume store. The labels are for a volume that the engine makes for a container, when it was removed meanwhile. */
export function volumeMount(installation: string, { volume: name, path, readOnly }: SandboxMount): MountSettings {
  const { volume } = volumeNames(installation, name)
  return toMount({ volume, path, readOnly }, volumeLabels(installation, name, 'volume'))
}

/** Without a copy: else the engine would put files of the image at the path into an empty volume. */
function toMount({ volume, path, readOnly }: SandboxMount, labels: Readonly<Record<string, string>>): MountSettings {
  return {
    Type: 'volume',
    Source: volume,
    Target: path,
    ReadOnly: readOnly,
    VolumeOptions: { NoCopy: true, Labels: { ...labels }, DriverConfig: { Name: 'local', Options: {} } },
  }
}
