import type Docker from 'dockerode'
import { AppError } from '@sandyard/kit/errors/app-error'
import { engineCall } from './docker-errors.ts'

/** How the engine puts containers into control groups. */
export interface CgroupFacts {
  readonly driver: string
  readonly version: string
}

/** What the runtime needs to know of an engine; it does not change while the engine runs. */
export interface EngineFacts {
  readonly version: string
  /** The OCI runtime that sandboxes get. */
  readonly ociRuntime: string
  /** Sandboxes share the host's network stack, so that rules in their network namespace bind them. */
  readonly sharesNetworkStack: boolean
  readonly cgroups: CgroupFacts
}

/** These run processes on the host's kernel; gVisor and Kata bring a network stack that never asks the namespace's rules. */
const NATIVE_RUNTIMES = new Set(['runc', 'crun', 'youki', 'io.containerd.runc.v2'])

interface EngineInfo {
  readonly ServerVersion: string
  readonly OSType: string
  readonly DefaultRuntime: string
  readonly Runtimes: Record<string, unknown>
  readonly CgroupDriver: string
  readonly CgroupVersion?: string
}

/** @throws AppError `failed_precondition` for an engine without Linux containers or without the runtime asked for */
export async function readEngineFacts(docker: Docker, wantedRuntime: string | undefined): Promise<EngineFacts> {
  const info = await engineCall('The Docker engine did not describe itself.', () => docker.info() as Promise<EngineInfo>)
  if (info.OSType !== 'linux') throw new AppError('failed_precondition', 'This Docker engine does not run Linux containers.')
  const ociRuntime = wantedRuntime ?? info.DefaultRuntime
  if (!(ociRuntime in info.Runtimes)) {
    const known = Object.keys(info.Runtimes).sort().join(', ')
    throw new AppError('failed_precondition', `The Docker engine has no runtime "${ociRuntime}"; it knows: ${known}.`)
  }
  return {
    version: info.ServerVersion,
    ociRuntime,
    sharesNetworkStack: NATIVE_RUNTIMES.has(ociRuntime),
    cgroups: { driver: info.CgroupDriver, version: info.CgroupVersion ?? '1' },
  }
}
