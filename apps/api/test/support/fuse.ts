import { Database, type Tx } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { FakeRuntime, type FakeRuntimeOptions } from '@sandyard/runtime/fake/fake-runtime'
import type { ResumeRequest, SnapshotRequest } from '@sandyard/runtime/sandbox-runtime'
import type {
  EgressPolicy,
  Keep,
  PauseHandle,
  Resumed,
  RuntimeSnapshot,
  SandboxEndpoint,
  SandboxRef,
  SandboxSpec,
} from '@sandyard/runtime/types'

/** Where a server is killed: before or after its n-th persistent step, from 1. */
export interface CrashPoint {
  readonly step: number
  readonly when: 'before' | 'after'
}

/**
 * Simulates `kill -9`: after the crash point no persistent step happens any more, and no wait returns. Steps are transactions and runtime
 * calls, which happen completely or not at all.
 */
export class Fuse {
  readonly #point: CrashPoint
  readonly #blown = Promise.withResolvers<void>()
  /** Steps count from when this is set. Default: at once. */
  isArmed = true
  #steps = 0
  #isBlown = false

  constructor(point: CrashPoint) {
    this.#point = point
  }

  get isBlown(): boolean {
    return this.#isBlown
  }

  /** Resolves when the server is dead. */
  get blown(): Promise<void> {
    return this.#blown.promise
  }

  async step<T>(work: () => Promise<T>): Promise<T> {
    if (this.isArmed) this.#steps += 1
    const isHere = this.isArmed && this.#steps === this.#point.step
    if (this.#isBlown || (isHere && this.#point.when === 'before')) return this.#end()
    const result = await work()
    return isHere ? this.#end() : result
  }

  /** Kills the server between two steps. */
  blow(): void {
    this.#isBlown = true
    this.#blown.resolve()
  }

  #end(): Promise<never> {
    this.blow()
    return new Promise(() => undefined)
  }
}

export class FusedDatabase extends Database {
  readonly #fuse: Fuse

  constructor(url: string, fuse: Fuse) {
    super({ url, applicationName: 'fused', log: silentLogger() })
    this.#fuse = fuse
  }

  override transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#fuse.step(() => super.transaction(work))
  }
}

export class FusedRuntime extends FakeRuntime {
  readonly #fuse: Fuse

  constructor(options: FakeRuntimeOptions, fuse: Fuse) {
    super(options)
    this.#fuse = fuse
  }

  override create(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint> {
    return this.#fuse.step(() => super.create(spec, signal))
  }

  override createFrom(snapshot: RuntimeSnapshot, spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint> {
    return this.#fuse.step(() => super.createFrom(snapshot, spec, signal))
  }

  override pause(ref: SandboxRef, keep: Keep, former?: PauseHandle): Promise<PauseHandle> {
    return this.#fuse.step(() => super.pause(ref, keep, former))
  }

  override resume(handle: PauseHandle, request: ResumeRequest, signal?: AbortSignal): Promise<Resumed> {
    return this.#fuse.step(() => super.resume(handle, request, signal))
  }

  override setEgress(ref: SandboxRef, policy: EgressPolicy): Promise<void> {
    return this.#fuse.step(() => super.setEgress(ref, policy))
  }

  override snapshot(ref: SandboxRef, request: SnapshotRequest): Promise<RuntimeSnapshot> {
    return this.#fuse.step(() => super.snapshot(ref, request))
  }

  override deleteSnapshot(snapshot: RuntimeSnapshot): Promise<void> {
    return this.#fuse.step(() => super.deleteSnapshot(snapshot))
  }

  override remove(ref: SandboxRef): Promise<void> {
    return this.#fuse.step(() => super.remove(ref))
  }
}
