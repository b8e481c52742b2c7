import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { SystemPaths } from '../containers/system-paths.ts'
import { LABEL } from '../labels.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from './empty-image.ts'

/** The paths that the engine masks and protects by itself. Only a container shows them, so one is created and removed again. */
export async function readDefaultPaths(docker: Docker, installation: string): Promise<SystemPaths> {
  await ensureEmptyImage(docker)
  const probe = await docker.createContainer({
    name: `sandyard-probe-${randomId(12)}`,
    Image: EMPTY_IMAGE,
    Cmd: ['-'],
    Labels: { [LABEL.installation]: installation, [LABEL.role]: 'probe' },
    NetworkDisabled: true,
  })
  try {
    const { HostConfig } = await probe.inspect()
    return { masked: HostConfig.MaskedPaths ?? [], readOnly: HostConfig.ReadonlyPaths ?? [] }
  } finally {
    await probe.remove({ force: true, v: true })
  }
}
