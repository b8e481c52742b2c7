import { setTimeout as delay } from 'node:timers/promises'
import { sandboxAccessToken, sandboxInstanceKey } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import { DEFAULT_EGRESS, type ImageRef, type SandboxRef, type SandboxSpec } from '@sandyard/runtime/types'
import { daemonIdentity } from '../../daemon/daemon-identity.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { initDaemon } from '../../daemon/init-daemon.ts'
import type { BuildJob } from '../build-runner.ts'

export interface SandboxParts {
  readonly runtime: SandboxRuntime
  readonly tokenSeed: Secret
  readonly log: Logger
}

/** Deadline of one start, until the daemon answers. */
const START_TIMEOUT_MS = 120_000
const NAME_LENGTH = 24
const END_LOOKS = 10
const END_LOOK_PAUSE_MS = 300

/**
 * The sandbox of a build: hardened, limited and isolated like every other. It can start many times, each time from an image. Disposing
 * removes it.
 */
export class BuildSandbox implements AsyncDisposable {
  readonly #parts: SandboxParts
  readonly #job: BuildJob
  readonly #signal: AbortSignal
  #incarnation = 0
  /** The incarnations that may still exist. */
  readonly #begun = new Set<number>()
  #image: ImageRef | undefined
  #isTouched = false
  #daemon: Daemon | undefined

  constructor(parts: SandboxParts, job: BuildJob, signal: AbortSignal) {
    this.#parts = parts
    this.#job = job
    this.#signal = signal
  }

  /** Undefined while the sandbox does not run. */
  get daemon(): Daemon | undefined {
    return this.#daemon
  }

  /** Undefined unless the sandbox runs from this image and is unchanged. */
  untouchedFrom(image: ImageRef): Daemon | undefined {
    return this.#isTouched || this.#image !== image ? undefined : this.#daemon
  }

  /** Marks the sandbox as changed. Call it before the change. */
  touch(): void {
    this.#isTouched = true
  }

  get ref(): SandboxRef {
    return { sandboxId: this.#job.sandboxId, incarnation: this.#incarnation }
  }

  /**
   * Starts the sandbox from an image. The former incarnation ends, and its changes that were not captured are lost. If it cannot be removed
   * now, dispose retries the removal.
   *
   * @throws AppError of the runtime, and `deadline_exceeded`; the abort reason
   */
  async start(image: ImageRef): Promise<Daemon> {
    const former = [...this.#begun]
    this.#daemon = undefined
    this.#incarnation += 1
    this.#begun.add(this.#incarnation)
    const removing = this.#remove(former).catch(() => undefined)
    const { sandboxId, templateId, buildId, resources } = this.#job
    const { runtime, tokenSeed } = this.#parts
    const token = sandboxAccessToken(tokenSeed, sandboxId)
    const late = AbortSignal.timeout(START_TIMEOUT_MS)
    const signal = AbortSignal.any([this.#signal, late])
    const instanceKey = sandboxInstanceKey(tokenSeed, this.ref)
    const identity = daemonIdentity({ sandboxId, templateId, buildId }, tokenSeed)
    const spec: SandboxSpec = {
      ...this.ref,
      image,
      resources,
      instanceKey,
      allowPrivilegeGain: true,
      mounts: [],
      egress: DEFAULT_EGRESS,
    }
    try {
      const endpoint = await runtime.create(spec, signal)
      await initDaemon(
        { endpoint, instanceKey },
        { identity, accessToken: token, envVars: {}, defaultUser: 'root', defaultWorkdir: '' },
        signal,
      )
      this.#daemon = { endpoint, accessToken: token }
    } catch (err) {
      this.#signal.throwIfAborted()
      throw late.aborted ? new AppError('deadline_exceeded', 'the build sandbox did not start in time', { cause: err }) : err
    } finally {
      await removing
    }
    this.#image = image
    this.#isTouched = false
    return this.#daemon
  }

  /** Stores the files of the sandbox as an image with a new name. */
  async capture(): Promise<ImageRef> {
    this.#signal.throwIfAborted()
    const { image } = await this.#parts.runtime.snapshot(this.ref, { name: `layer-${randomId(NAME_LENGTH)}`, keep: 'files' })
    return image
  }

  /** Whether the sandbox ended by itself. The runtime may report the end a moment after the connections broke. */
  async hasEnded(): Promise<boolean> {
    const { sandboxId, incarnation } = this.ref
    for (let looks = 1; ; looks += 1) {
      const found = (await this.#parts.runtime.list(sandboxId)).find((one) => one.incarnation === incarnation)
      if (found?.state !== 'running') return true
      if (looks === END_LOOKS) return false
      await delay(END_LOOK_PAUSE_MS, undefined, { signal: this.#signal }).catch(() => this.#signal.throwIfAborted())
    }
  }

  async stop(): Promise<void> {
    this.#daemon = undefined
    await this.#remove([...this.#begun])
  }

  async #remove(incarnations: readonly number[]): Promise<void> {
    const { sandboxId } = this.#job
    for (const incarnation of incarnations) {
      await this.#parts.runtime.remove({ sandboxId, incarnation })
      this.#begun.delete(incarnation)
    }
  }

  /** Does not fail the build when the removal fails: upkeep retries it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop().catch((err: unknown) => {
      this.#parts.log.warn({ err, buildId: this.#job.buildId, sandboxId: this.#job.sandboxId }, 'build sandbox could not be removed yet')
    })
  }
}
