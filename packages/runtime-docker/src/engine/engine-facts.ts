import { availableParallelism, totalmem } from 'node:os'
import type Docker from 'dockerode'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { RuntimeHost } from '@sandyard/runtime/types'
import type { SeccompFacts } from '../seccomp/step-rights.ts'
import { engineCall } from './docker-errors.ts'
import type { ComponentVersion } from './known-flaws.ts'

/** How the engine assigns containers to control groups. */
export interface CgroupFacts {
  readonly driver: string
  readonly version: string
}

/** Facts of an engine that the runtime needs. They do not change while the engine runs. */
export interface EngineFacts {
  readonly version: string
  /** The runc of the engine, which also runs the steps of Dockerfiles; undefined when the engine does not say it. */
  readonly runc: ComponentVersion | undefined
  /** As `uname -m` has it. */
  readonly architecture: string
  /** The OCI runtime of sandboxes. */
  readonly ociRuntime: string
  /** Sandboxes reach the engine's resolver at 127.0.0.11, which is a rule in their network namespace. */
  readonly hasEngineResolver: boolean
  readonly cgroups: CgroupFacts
  readonly seccomp: SeccompFacts
  readonly host: RuntimeHost
}

/** These run processes on the host's kernel. gVisor and Kata bring their own network stack, which knows nothing of the namespace's rules. */
const NATIVE_RUNTIMES = new Set(['runc', 'crun', 'youki', 'io.containerd.runc.v2'])

interface EngineInfo {
  readonly ServerVersion: string
  readonly OSType: string
  readonly Architecture: string
  readonly DefaultRuntime: string
  readonly Runtimes: Record<string, unknown>
  readonly CgroupDriver: string
  readonly CgroupVersion?: string
  /** Zero when the engine cannot read them. */
  readonly NCPU?: number
  readonly MemTotal?: number
  /** Such as `name=seccomp,profile=default`. */
  readonly SecurityOptions?: readonly string[] | null
}

interface EngineVersion {
  readonly Components?:
    | readonly { readonly Name: string; readonly Version: string; readonly Details?: { readonly GitCommit?: string } | null }[]
    | null
}

/** @throws AppError `failed_precondition` for an engine without Linux containers or without the requested runtime */
export async function readEngineFacts(docker: Docker, wantedRuntime: string | undefined): Promise<EngineFacts> {
  const [info, { Components }] = await engineCall('The Docker engine did not describe itself.', () =>
    Promise.all([docker.info() as Promise<EngineInfo>, docker.version() as Promise<EngineVersion>]),
  )
  if (info.OSType !== 'linux') {
    const message = 'This Docker engine does not run Linux containers: switch it to them, or set DOCKER_HOST to another engine.'
    throw new AppError('failed_precondition', message)
  }
  const ociRuntime = wantedRuntime ?? info.DefaultRuntime
  if (!(ociRuntime in info.Runtimes)) {
    const known = Object.keys(info.Runtimes).sort().join(', ')
    throw new AppError(
      'failed_precondition',
      `The Docker engine has no runtime "${ociRuntime}"; its runtimes are: ${known}. Set SANDYARD_SANDBOX_RUNTIME to one of them, or add the runtime to the engine.`,
    )
  }
  return {
    version: info.ServerVersion,
    runc: readRunc(Components ?? []),
    architecture: info.Architecture,
    ociRuntime,
    hasEngineResolver: NATIVE_RUNTIMES.has(ociRuntime),
    cgroups: { driver: info.CgroupDriver, version: info.CgroupVersion ?? '1' },
    seccomp: readSeccomp(info.SecurityOptions ?? []),
    host: readHost(info),
  }
}

/** An engine that does not describe its machine is taken for one on this machine. */
export function readHost({ NCPU, MemTotal }: Pick<EngineInfo, 'NCPU' | 'MemTotal'>): RuntimeHost {
  return { processors: NCPU || availableParallelism(), memoryBytes: MemTotal || totalmem() }
}

/** Distributions have the version of their package in place of the commit. */
function readRunc(components: NonNullable<EngineVersion['Components']>): ComponentVersion | undefined {
  const runc = components.find(({ Name }) => Name === 'runc')
  return runc && { version: runc.Version, packageVersion: runc.Details?.GitCommit }
}

function readSeccomp(options: readonly string[]): SeccompFacts {
  const fields = options.map((option) => option.split(',')).find(([name]) => name === 'name=seccomp')
  const profile = fields?.find((field) => field.startsWith('profile='))?.slice('profile='.length)
  return { isSupported: fields !== undefined, defaultProfile: profile ?? 'unconfined' }
}
