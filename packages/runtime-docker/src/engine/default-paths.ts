import type Docker from 'dockerode'
import type { SystemPaths } from '../containers/system-paths.ts'
import { withProbe } from './with-probe.ts'

/** The paths that the engine masks and protects by itself. Only a container shows them. */
export function readDefaultPaths(docker: Docker, installation: string): Promise<SystemPaths> {
  return withProbe(docker, { installation }, async (probe) => {
    const { HostConfig } = await probe.inspect()
    return { masked: HostConfig.MaskedPaths ?? [], readOnly: HostConfig.ReadonlyPaths ?? [] }
  })
}
