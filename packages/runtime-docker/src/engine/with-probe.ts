import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { Container, HostConfig } from 'dockerode'
import { LABEL } from '../labels.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from './empty-image.ts'

export interface ProbeOptions {
  readonly installation: string
  readonly hostConfig?: HostConfig
}

/** Creates a container that is never started, for facts that the engine shows only there, and removes it after `read`. */
export async function withProbe<T>(
  docker: Docker,
  { installation, hostConfig = {} }: ProbeOptions,
  read: (probe: Container) => Promise<T>,
): Promise<T> {
  await ensureEmptyImage(docker)
  const probe = await docker.createContainer({
    name: `sandyard-probe-${randomId(12)}`,
    Image: EMPTY_IMAGE,
    Cmd: ['-'],
    Labels: { [LABEL.installation]: installation, [LABEL.role]: 'probe' },
    NetworkDisabled: true,
    HostConfig: hostConfig,
  })
  try {
    return await read(probe)
  } finally {
    await probe.remove({ force: true, v: true })
  }
}
