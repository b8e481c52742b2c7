import { isAppError } from '@sandyard/kit/errors/app-error'
import { connectEngine, DEFAULT_ADDRESS, pingEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { toAppError } from '@sandyard/runtime-docker/engine/docker-errors'
import type { Engine } from '../../cli-parts.ts'
import { readOnce } from './read-once.ts'
import { Unreadable } from './unreadable.ts'

/** What a ping to the engine's address has led to. */
export type EngineAnswer =
  | { readonly kind: 'answers' }
  /** Version 20.10 is the oldest that works. */
  | { readonly kind: 'too_old' }
  | { readonly kind: 'no_socket' | 'no_permission' | 'refused' | 'silent' | 'failed'; readonly reason: string }

/** The fields of `/info` that the checks read. */
export interface EngineInfo {
  readonly ServerVersion: string
  readonly Architecture: string
  readonly KernelVersion: string
  readonly OperatingSystem: string
  readonly DockerRootDir: string
  readonly SystemTime: string
  readonly DefaultRuntime: string
  readonly Runtimes: Readonly<Record<string, unknown>>
  readonly SecurityOptions?: readonly string[] | null
  readonly LiveRestoreEnabled: boolean
  readonly Driver: string
  readonly DriverStatus?: readonly (readonly [string, string])[] | null
  readonly CgroupVersion?: string
  readonly CpuCfsQuota: boolean
  readonly MemoryLimit: boolean
  readonly PidsLimit: boolean
}

/** The fields of `/version` that the checks read. */
export interface EngineVersion {
  readonly Version: string
  readonly ApiVersion: string
  readonly Platform?: { readonly Name?: string } | null
  readonly Components?:
    | readonly { readonly Name: string; readonly Version: string; readonly Details?: { readonly GitCommit?: string } | null }[]
    | null
}

/** The fields of `/system/df` that the checks read. Sizes are bytes; -1 is unknown. */
export interface DiskUse {
  readonly Images?: readonly DiskImage[] | null
  readonly Volumes?:
    | readonly { readonly Name: string; readonly UsageData?: { readonly Size: number; readonly RefCount: number } | null }[]
    | null
}

export interface DiskImage {
  readonly Id: string
  readonly RepoTags?: readonly string[] | null
  readonly Size: number
  readonly SharedSize: number
  readonly Containers: number
}

const PING_TIMEOUT_MS = 5000
/** The disk use of a full engine takes long. */
const READ_TIMEOUT_MS = 45_000

/** Reads the Docker engine. Each call is made once, has a deadline, and throws `Unreadable` when the engine does not answer. */
export class EngineReader {
  readonly address: string
  readonly answer = readOnce(() => this.#ping())
  readonly docker = readOnce(() => this.#connect())
  readonly info = readOnce(() => this.#read('/info', (docker) => docker.info() as Promise<EngineInfo>))
  readonly version = readOnce(() => this.#read('/version', (docker) => docker.version() as Promise<EngineVersion>))
  readonly diskUse = readOnce(() => this.#read('/system/df', (docker) => docker.df() as Promise<DiskUse>))
  readonly containers = readOnce(() => this.#read('the containers', (docker) => docker.listContainers({ all: true })))
  readonly networks = readOnce(() => this.#read('the networks', (docker) => docker.listNetworks()))
  readonly volumes = readOnce(() => this.#read('the volumes', async (docker) => (await docker.listVolumes()).Volumes ?? []))
  readonly images = readOnce(() => this.#read('the images', (docker) => docker.listImages()))

  constructor(address: string | undefined) {
    this.address = address ?? DEFAULT_ADDRESS
  }

  /** One request of a check. @throws Unreadable that names `what` */
  async read<T>(what: string, call: (docker: Engine) => Promise<T>): Promise<T> {
    return this.#read(what, call)
  }

  /** Without the failures of the engine turned into `Unreadable`, for checks that judge them. @throws Unreadable without an engine */
  async #connect(): Promise<Engine> {
    const answer = await this.answer()
    if (answer.kind !== 'answers') throw new Unreadable('the engine does not answer or is too old (E1, E2)')
    return connectEngine(this.address, { short: { answerMs: READ_TIMEOUT_MS } })
  }

  async #read<T>(what: string, call: (docker: Engine) => Promise<T>): Promise<T> {
    const docker = await this.docker()
    try {
      return await call(docker)
    } catch (err) {
      throw new Unreadable(`the engine did not tell ${what}: ${toAppError(err, 'its answer is an error').message}`, { cause: err })
    }
  }

  async #ping(): Promise<EngineAnswer> {
    try {
      const docker = await connectEngine(this.address, { short: { answerMs: PING_TIMEOUT_MS } })
      await pingEngine(docker, AbortSignal.timeout(PING_TIMEOUT_MS))
      return { kind: 'answers' }
    } catch (err) {
      if (isAppError(err, 'failed_precondition')) return { kind: 'too_old' }
      const cause = ((err as Error).cause ?? err) as NodeJS.ErrnoException
      const reason = cause.message
      if (isAppError(err, 'deadline_exceeded') || cause.name === 'TimeoutError') return { kind: 'silent', reason }
      if (cause.code === 'ENOENT') return { kind: 'no_socket', reason }
      if (cause.code === 'EACCES' || cause.code === 'EPERM') return { kind: 'no_permission', reason }
      return { kind: cause.code === 'ECONNREFUSED' ? 'refused' : 'failed', reason }
    }
  }
}
