import { Database, type Tx } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import type { FakeRuntimeOptions } from '@sandyard/runtime/fake/fake-runtime-options'
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

/** Decides what happens at each persistent step. */
export interface StepGate {
  readonly isBlown: boolean
  readonly blown: Promise<void>
  step<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Simulates `kill -9`: after the crash point no persistent step happens any more, and no wait returns. Steps are transactions and runtime
 * calls, which happen completely or not at all.
 */
export class Fuse implements StepGate {
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

/** Breaks the connections of a server to its database at one of its steps. The server lives on. */
export class ConnectionBreak implements StepGate {
  readonly blown = new Promise<void>(() => undefined)
  readonly isBlown = false
  #point: CrashPoint | undefined
  #steps = 0

  /** Whether the break has happened. */
  get isOver(): boolean {
    return this.#point === undefined
  }

  /** The next break; undefined: none. */
  arm(point: CrashPoint | undefined): void {
    this.#point = point
    this.#steps = 0
  }

  async step<T>(work: () => Promise<T>): Promise<T> {
    this.#steps += 1
    if (this.#point?.step !== this.#steps) return work()
    const { when } = this.#point
    this.#point = undefined
    if (when === 'after') await work()
    throw new Error('the connection breaks')
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
