import type Docker from 'dockerode'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { SeccompFacts } from '../seccomp/step-rights.ts'
import { engineCall } from './docker-errors.ts'

/** How the engine assigns containers to control groups. */
export interface CgroupFacts {
  readonly driver: string
  readonly version: string
}

/** Facts of an engine that the runtime needs. They do not change while the engine runs. */
export interface EngineFacts {
  readonly version: string
  /** The version of runc, which also runs the steps of Dockerfiles; undefined when the engine does not say it. */
  readonly runcVersion: string | undefined
  /** As `uname -m` has it. */
  readonly architecture: string
  /** The OCI runtime of sandboxes. */
  readonly ociRuntime: string
  readonly cgroups: CgroupFacts
  readonly seccomp: SeccompFacts
}

interface EngineInfo {
  readonly ServerVersion: string
  readonly OSType: string
  readonly Architecture: string
  readonly DefaultRuntime: string
  readonly Runtimes: Record<string, unknown>
  readonly CgroupDriver: string
  readonly CgroupVersion?: string
  /** Such as `name=seccomp,profile=default`. */
  readonly SecurityOptions?: readonly string[] | null
}

interface EngineVersion {
  readonly Components?: readonly { readonly Name: string; readonly Version: string }[] | null
}

/** @throws AppError `failed_precondition` for an engine without Linux containers or without the requested runtime */
export async function readEngineFacts(docker: Docker, wantedRuntime: string | undefined): Promise<EngineFacts> {
  const [info, { Components }] = await engineCall('The Docker engine did not describe itself.', () =>
    Promise.all([docker.info() as Promise<EngineInfo>, docker.version() as Promise<EngineVersion>]),
  )
  if (info.OSType !== 'linux') throw new AppError('failed_precondition', 'This Docker engine does not run Linux containers.')
  const ociRuntime = wantedRuntime ?? info.DefaultRuntime
  if (!(ociRuntime in info.Runtimes)) {
    const known = Object.keys(info.Runtimes).sort().join(', ')
    throw new AppError('failed_precondition', `The Docker engine has no runtime "${ociRuntime}"; its runtimes are: ${known}.`)
  }
  return {
    version: info.ServerVersion,
    runcVersion: Components?.find(({ Name }) => Name === 'runc')?.Version,
    architecture: info.Architecture,
    ociRuntime,
    cgroups: { driver: info.CgroupDriver, version: info.CgroupVersion ?? '1' },
    seccomp: readSeccomp(info.SecurityOptions ?? []),
  }
}

function readSeccomp(options: readonly string[]): SeccompFacts {
  const fields = options.map((option) => option.split(',')).find(([name]) => name === 'name=seccomp')
  const profile = fields?.find((field) => field.startsWith('profile='))?.slice('profile='.length)
  return { isSupported: fields !== undefined, defaultProfile: profile ?? 'unconfined' }
}
