import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import { LABEL } from '../labels.ts'
import { statusOf } from './docker-errors.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from './empty-image.ts'

/**
 * Whether the engine's storage can limit the files of a container. This depends on the driver, the file system below it and its
 * mount options. The engine does not report all of them, so a container with a limit is created and removed again.
 */
export async function canLimitDisk(docker: Docker, installation: string): Promise<boolean> {
  await ensureEmptyImage(docker)
  try {
    const probe = await docker.createContainer({
      name: `sandyard-probe-${randomId(12)}`,
      Image: EMPTY_IMAGE,
      Cmd: ['-'],
      Labels: { [LABEL.installation]: installation, [LABEL.role]: 'probe' },
      NetworkDisabled: true,
      HostConfig: { StorageOpt: { size: '64m' } },
    })
    await probe.remove({ force: true, v: true })
    return true
  } catch (err) {
    if (statusOf(err) === undefined) throw err
    return false
  }
}
