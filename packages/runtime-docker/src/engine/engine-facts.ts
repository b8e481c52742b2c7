import type Docker from 'dockerode'
import { AppError } from '@sandyard/kit/errors/app-error'
import { engineCall } from './docker-errors.ts'

/** How the engine assigns containers to control groups. */
export interface CgroupFacts {
  readonly driver: string
  readonly version: string
}

/** Facts of an engine that the runtime needs. They do not change while the engine runs. */
export interface EngineFacts {
  readonly version: string
  /** The OCI runtime of sandboxes. */
  readonly ociRuntime: string
  readonly cgroups: CgroupFacts
}

interface EngineInfo {
  readonly ServerVersion: string
  readonly OSType: string
  readonly DefaultRuntime: string
  readonly Runtimes: Record<string, unknown>
  readonly CgroupDriver: string
  readonly CgroupVersion?: string
}

/** @throws AppError `failed_precondition` for an engine without Linux containers or without the requested runtime */
export async function readEngineFacts(docker: Docker, wantedRuntime: string | undefined): Promise<EngineFacts> {
  const info = await engineCall('The Docker engine did not describe itself.', () => docker.info() as Promise<EngineInfo>)
  if (info.OSType !== 'linux') throw new AppError('failed_precondition', 'This Docker engine does not run Linux containers.')
  const ociRuntime = wantedRuntime ?? info.DefaultRuntime
  if (!(ociRuntime in info.Runtimes)) {
    const known = Object.keys(info.Runtimes).sort().join(', ')
    throw new AppError('failed_precondition', `The Docker engine has no runtime "${ociRuntime}"; its runtimes are: ${known}.`)
  }
  return {
    version: info.ServerVersion,
    ociRuntime,
    cgroups: { driver: info.CgroupDriver, version: info.CgroupVersion ?? '1' },
  }
}
