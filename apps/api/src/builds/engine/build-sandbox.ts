import { setTimeout as delay } from 'node:timers/promises'
import { sandboxAccessToken, sandboxInstanceKey } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { proxyVariables } from '@sandyard/kit/outbound/proxy-variables'
import { randomId } from '@sandyard/kit/ids/ids'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import { DEFAULT_EGRESS, type ImageRef, type SandboxEndpoint, type SandboxRef, type SandboxSpec } from '@sandyard/runtime/types'
import { daemonIdentity } from '../../daemon/daemon-identity.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { initTrusting, removeAuthorities, type DaemonInit } from '../../daemon/init-daemon.ts'
import { trustVariables } from '../../sandboxes/start/trust-variables.ts'
import type { BuildJob } from '../build-runner.ts'

export interface SandboxParts {
  readonly runtime: SandboxRuntime
  readonly tokenSeed: Secret
  /** How the steps reach the network outside. Nothing of it becomes part of an image. */
  readonly outbound: Outbound
  readonly log: Logger
}

/** Deadline of one start, until the daemon answers. */
const START_TIMEOUT_MS = 120_000
/** Deadline of a change of the trust store. */
const TRUST_TIMEOUT_MS = 60_000
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
    const { sandboxId, resources } = this.#job
    const { runtime, tokenSeed } = this.#parts
    const token = sandboxAccessToken(tokenSeed, sandboxId)
    const late = AbortSignal.timeout(START_TIMEOUT_MS)
    const signal = AbortSignal.any([this.#signal, late])
    const instanceKey = sandboxInstanceKey(tokenSeed, this.ref)
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
      await this.#init(endpoint, signal)
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

  /** Stores the files of the sandbox as an image with a new name, without the certificates of the installation. */
  async capture(): Promise<ImageRef> {
    this.#signal.throwIfAborted()
    if (this.#parts.outbound.extraCa.length === 0) return this.#store()
    await this.#changeTrust((endpoint, signal) =>
      removeAuthorities({ endpoint, instanceKey: sandboxInstanceKey(this.#parts.tokenSeed, this.ref) }, this.#trust(), signal),
    )
    const image = await this.#store()
    // The image may have a trust store now that it had not before.
    await this.#changeTrust((endpoint, signal) => this.#init(endpoint, signal))
    return image
  }

  async #store(): Promise<ImageRef> {
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

  async #init(endpoint: SandboxEndpoint, signal: AbortSignal): Promise<void> {
    const { tokenSeed, outbound } = this.#parts
    const init = (trusts: boolean): DaemonInit => ({
      ...this.#trust(),
      ...(trusts && outbound.extraCa.length > 0 && { caBundle: outbound.extraCa.join('') }),
      envVars: { ...proxyVariables(outbound), ...(trusts && trustVariables(outbound)) },
      defaultUser: 'root',
      defaultWorkdir: '',
    })
    await initTrusting({ endpoint, instanceKey: sandboxInstanceKey(tokenSeed, this.ref) }, init, { isTrustRequired: false, signal })
  }

  #trust(): Pick<DaemonInit, 'identity' | 'accessToken'> {
    const { sandboxId, templateId, buildId } = this.#job
    const { tokenSeed } = this.#parts
    return {
      identity: daemonIdentity({ sandboxId, templateId, buildId }, tokenSeed),
      accessToken: sandboxAccessToken(tokenSeed, sandboxId),
    }
  }

  async #changeTrust(change: (endpoint: SandboxEndpoint, signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#daemon === undefined) throw new Error('the build sandbox does not run')
    const late = AbortSignal.timeout(TRUST_TIMEOUT_MS)
    try {
      await change(this.#daemon.endpoint, AbortSignal.any([this.#signal, late]))
    } catch (err) {
      this.#signal.throwIfAborted()
      throw late.aborted ? new AppError('deadline_exceeded', 'the build sandbox does not answer any more', { cause: err }) : err
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
