import { AppError } from '@sandyard/kit/errors/app-error'
import { checkEgress, checkSpec } from '../check-spec.ts'
import { checkOrigin, type Origin } from '../origin.ts'
import type { OriginalRequest, ResumeRequest, SandboxRuntime, SnapshotRequest } from '../sandbox-runtime.ts'
import type {
  EgressPolicy,
  ImageRef,
  Keep,
  OriginalFile,
  PauseHandle,
  Resumed,
  RuntimeCapabilities,
  RuntimeChanges,
  RuntimeEvent,
  RuntimeHost,
  RuntimeSandbox,
  RuntimeSnapshot,
  RuntimeVitals,
  SandboxEnd,
  SandboxEndpoint,
  SandboxRef,
  SandboxSpec,
  Usage,
} from '../types.ts'
import { FakeEngine, type FakeSandbox } from './fake-engine.ts'
import { fakeChanges, fakeOriginal } from './fake-changes.ts'
import { subscribeFake } from './fake-events.ts'
import { FakeImageStore, IMAGE_PREFIX } from './fake-image-store.ts'
import { pauseFake, resumeFake } from './fake-pausing.ts'
import type { FakeRuntimeOptions } from './fake-runtime-options.ts'
import { snapshotFake } from './fake-snapshots.ts'
import { createFakePaused, startFake, type FakeContents } from './fake-starting.ts'
import { Faults, type FaultPoint } from './faults.ts'
import { FakeVolumeStore } from './fake-volume-store.ts'

const NOWHERE: SandboxEndpoint = { host: '127.0.0.1', daemonPort: 1 }

/** A runtime without processes, for tests of the control plane. It gives the same guarantees, and a test can make every call fail. */
export class FakeRuntime implements SandboxRuntime {
  readonly name = 'fake'
  readonly engine: FakeEngine
  readonly faults = new Faults()
  readonly images: FakeImageStore
  readonly volumes: FakeVolumeStore | undefined
  readonly imageTool: readonly string[]
  readonly #installation: string
  readonly #options: FakeRuntimeOptions
  readonly #disposed = new AbortController()

  constructor(options: FakeRuntimeOptions = {}) {
    this.engine = options.engine ?? new FakeEngine()
    this.#installation = options.installation ?? 'fake'
    this.#options = options
    this.imageTool = options.imageTool ?? ['/opt/sandyard/image-tool']
    const shared = {
      installation: this.#installation,
      engine: this.engine,
      call: <T>(point: FaultPoint, work: () => T | Promise<T>, signal?: AbortSignal) => this.#call(point, work, signal),
    }
    const exists = (image: ImageRef): boolean => this.#imageIsThere(image)
    this.images = new FakeImageStore({ ...shared, exists, factsOf: options.imageFacts ?? (() => ({})) })
    this.volumes = this.capabilities().mounts ? new FakeVolumeStore(shared) : undefined
  }

  capabilities(): RuntimeCapabilities {
    return {
      pause: 'memory',
      snapshot: 'files',
      diskLimit: false,
      egress: true,
      egressPolicies: true,
      egressGateway: undefined,
      mounts: false,
      changes: true,
      ...this.#options.capabilities,
    }
  }

  host(): RuntimeHost {
    return this.engine.host
  }

  generation(): string {
    return this.#options.generation ?? 'fake'
  }

  ping(signal: AbortSignal): Promise<void> {
    return this.#call('ping', () => undefined, signal)
  }

  vitals(signal: AbortSignal): Promise<RuntimeVitals> {
    return this.#call('vitals', () => ({ guardRestarts: 0, disk: this.engine.disk, memory: this.engine.memory }), signal)
  }

  engineId(signal: AbortSignal): Promise<string> {
    return this.#call('engineId', () => this.engine.id, signal)
  }

  create(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint> {
    return this.#start('create', { spec, contents: () => this.#contentsOf(spec.image) }, signal)
  }

  createFrom(snapshot: RuntimeSnapshot, spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint> {
    const contents = (): FakeContents => {
      checkOrigin('snapshot', snapshot, this.#origin)
      return this.#contentsOf(snapshot.image)
    }
    return this.#start('createFrom', { spec, contents }, signal)
  }

  createPaused(snapshot: RuntimeSnapshot, spec: SandboxSpec): Promise<PauseHandle> {
    return this.#call('createPaused', () => {
      checkOrigin('snapshot', snapshot, this.#origin)
      checkSpec(spec, this.capabilities())
      this.volumes?.require(spec.mounts)
      const contents = (): FakeContents => this.#contentsOf(snapshot.image)
      const sandbox = createFakePaused(this.engine, { installation: this.#installation, spec, contents, endpoint: NOWHERE })
      return this.#handleOf(sandbox, 'files')
    })
  }

  pause(ref: SandboxRef, keep: Keep, former?: PauseHandle): Promise<PauseHandle> {
    return this.#call('pause', () => {
      if (keep === 'memory' && this.capabilities().pause === 'files') throw new AppError('unimplemented', 'This runtime keeps no memory.')
      const sandbox = this.#get(ref)
      const isOther = former !== undefined && former['startId'] !== sandbox.startId
      pauseFake(this.engine, sandbox, isOther ? 'files' : keep)
      return this.#handleOf(sandbox, sandbox.state === 'stopped' ? 'files' : 'memory')
    })
  }

  async resume(handle: PauseHandle, { spec, keep }: ResumeRequest, signal?: AbortSignal): Promise<Resumed> {
    const undo: (() => void)[] = []
    try {
      return await this.#call(
        'resume',
        () => {
          checkOrigin('paused sandbox', handle, this.#origin)
          const { installation, sandboxId, incarnation } = handle
          if (installation !== this.#installation || sandboxId !== spec.sandboxId || incarnation !== spec.incarnation)
            throw new AppError('failed_precondition', 'This handle is of another sandbox.')
          return resumeFake(this.engine, this.#get(spec), {
            keep: handle.keep === 'files' ? 'files' : keep,
            pausedStartId: handle['startId'],
            start: () => this.#endpointOf(spec),
            undo,
            signal,
          })
        },
        signal,
      )
    } catch (err) {
      for (const step of undo) step()
      throw err
    }
  }

  snapshot(ref: SandboxRef, request: SnapshotRequest): Promise<RuntimeSnapshot> {
    return this.#call('snapshot', () => {
      const parts = { images: this.images, kept: this.engine.images, origin: this.#origin, capabilities: this.capabilities() }
      return snapshotFake(parts, request, () => this.#get(ref))
    })
  }

  setEgress(ref: SandboxRef, policy: EgressPolicy, signal?: AbortSignal): Promise<void> {
    return this.#call(
      'setEgress',
      () => {
        checkEgress(policy, this.capabilities())
        this.#get(ref).egress = policy
      },
      signal,
    )
  }

  deleteSnapshot(snapshot: RuntimeSnapshot): Promise<void> {
    return this.#call('deleteSnapshot', () => {
      checkOrigin('snapshot', snapshot, this.#origin)
      this.images.drop(snapshot.image)
    })
  }

  remove(ref: SandboxRef): Promise<void> {
    return this.#call('remove', () => this.engine.drop(this.#installation, ref))
  }

  list(sandboxId?: string): Promise<RuntimeSandbox[]> {
    return this.#call('list', () =>
      [...this.engine.sandboxes.values()]
        .filter(({ installation, spec }) => installation === this.#installation && spec.sandboxId === (sandboxId ?? spec.sandboxId))
        .map(({ spec, state, createdAt }) => ({ sandboxId: spec.sandboxId, incarnation: spec.incarnation, state, createdAt })),
    )
  }

  changes(ref: SandboxRef, maxBytes: number, signal: AbortSignal): Promise<RuntimeChanges> {
    return this.#call('changes', () => fakeChanges(this.#get(ref), maxBytes, this.capabilities()), signal)
  }

  readOriginal(ref: SandboxRef, request: OriginalRequest, signal: AbortSignal): Promise<OriginalFile> {
    return this.#call('readOriginal', () => fakeOriginal(this.#get(ref), request, this.capabilities()), signal)
  }

  findEnd(ref: SandboxRef): Promise<SandboxEnd | undefined> {
    return this.#call('findEnd', () => {
      const sandbox = this.engine.find(this.#installation, ref)
      return sandbox?.state === 'stopped' ? sandbox.end : undefined
    })
  }

  usage(refs: readonly SandboxRef[]): Promise<Map<string, Usage>> {
    return this.#call('usage', () => {
      const running = refs.filter((ref) => (this.engine.find(this.#installation, ref)?.state ?? 'stopped') !== 'stopped')
      return new Map(running.map((ref) => [ref.sandboxId, { memoryBytes: 16 * 1024 ** 2, cpuMicroseconds: 1000, pids: 2 }]))
    })
  }

  events(signal: AbortSignal): Promise<AsyncIterable<RuntimeEvent>> {
    return this.#call('events', () => {
      const until = AbortSignal.any([signal, this.#disposed.signal])
      const { maxUnreadEvents: maxUnread } = this.#options
      return subscribeFake(this.engine, { installation: this.#installation, maxUnread, signal: until })
    })
  }

  imageExists(image: ImageRef): Promise<boolean> {
    return this.#call('imageExists', () => this.#imageIsThere(image))
  }

  /** Ends the event streams. Sandboxes stay, because they belong to the engine. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort()
  }

  get #origin(): Origin {
    return { runtime: this.name, version: 1, engine: this.engine.id }
  }

  #handleOf({ spec: { sandboxId, incarnation }, startId }: FakeSandbox, keep: Keep): PauseHandle {
    return { ...this.#origin, keep, installation: this.#installation, sandboxId, incarnation, startId }
  }

  async #start(
    point: 'create' | 'createFrom',
    { spec, contents }: { spec: SandboxSpec; contents: () => FakeContents },
    signal?: AbortSignal,
  ): Promise<SandboxEndpoint> {
    const existed = this.engine.find(this.#installation, spec) !== undefined
    try {
      return await this.#call(
        point,
        async () => {
          checkSpec(spec, this.capabilities())
          this.volumes?.require(spec.mounts)
          const endpointOf = (): Promise<SandboxEndpoint> => this.#endpointOf(spec)
          return startFake(this.engine, { installation: this.#installation, spec, contents, endpointOf, signal })
        },
        signal,
      )
    } catch (err) {
      if (!existed) this.engine.drop(this.#installation, spec)
      throw err
    }
  }

  async #endpointOf(spec: SandboxSpec): Promise<SandboxEndpoint> {
    return (await this.#options.endpointOf?.(spec)) ?? NOWHERE
  }

  #call<T>(point: FaultPoint, work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.faults.run(
      point,
      () => {
        if (!this.engine.reachable) throw new AppError('unavailable', 'The engine cannot be reached.')
        return work()
      },
      signal,
    )
  }

  #imageIsThere(image: ImageRef): boolean {
    if (image.startsWith(IMAGE_PREFIX)) return this.engine.images.has(image)
    return this.#options.images?.has(image) ?? true
  }

  #contentsOf(image: ImageRef): FakeContents {
    if (!this.#imageIsThere(image)) throw new AppError('not_found', `Image "${image}" does not exist.`)
    return this.engine.images.get(image) ?? { files: new Map() }
  }

  #get(ref: SandboxRef): FakeSandbox {
    const sandbox = this.engine.find(this.#installation, ref)
    if (sandbox === undefined) throw new AppError('not_found', `Sandbox "${ref.sandboxId}" does not exist.`)
    return sandbox
  }
}
