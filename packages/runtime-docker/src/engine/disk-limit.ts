import type Docker from 'dockerode'
import { statusOf } from './docker-errors.ts'
import { withProbe } from './with-probe.ts'

/**
 * Whether the engine's storage can limit the files of a container. This depends on the driver, the file system below it and its
 * mount options. The engine does not report all of them, so a container with a limit is created.
 */
export async function canLimitDisk(docker: Docker, installation: string): Promise<boolean> {
  try {
    return await withProbe(docker, { installation, hostConfig: { StorageOpt: { size: '64m' } } }, async () => true)
  } catch (err) {
    if (statusOf(err) === undefined) throw err
    return false
  }
}
