import { on } from 'node:events'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRuntime } from '../sandbox-runtime.ts'
import { checkSnapshotName } from '../snapshot-name.ts'
import type {
  ImageRef,
  RuntimeCapabilities,
  RuntimeEvent,
  RuntimeSandbox,
  RuntimeSnapshot,
  SandboxEndpoint,
  SandboxRef,
  SandboxSpec,
  Usage,
} from '../types.ts'
import { FakeEngine, type FakeImageFacts, type FakeSandbox } from './fake-engine.ts'
import { FakeImageStore, IMAGE_PREFIX } from './fake-image-store.ts'
import { Faults } from './faults.ts'

export interface FakeRuntimeOptions {
  /** Runtimes that share an engine and an installation see the same sandboxes. Default: an engine of its own. */
  readonly engine?: FakeEngine
  readonly installation?: string
  /** Where the daemon of a new sandbox is said to be: a test points it to a server of its own. Default: a port where nothing listens. */
  readonly endpointOf?: (spec: SandboxSpec) => SandboxEndpoint | Promise<SandboxEndpoint>
  /** The images that exist. Default: every one. */
  readonly images?: ReadonlySet<string>
  /** What images say of themselves: of a reference to pull, or of a Dockerfile's text. Default: nothing. */
  readonly imageFacts?: (source: string) => Partial<FakeImageFacts>
  /** Default: a command that no sandbox has. */
  readonly imageTool?: readonly string[]
  readonly capabilities?: Partial<RuntimeCapabilities>
}

const NOWHERE: SandboxEndpoint = { host: '127.0.0.1', daemonPort: 1 }

/** A runtime without processes, for tests of what stands on the seam: same guarantees, and every call can be made to fail. */
export class FakeRuntime implements SandboxRuntime {
  readonly name = 'fake'
  readonly engine: FakeEngine
  readonly faults = new Faults()
  readonly images: FakeImageStore
  readonly imageTool: readonly string[]
  readonly #installation: string
  readonly #options: FakeRuntimeOptions
  readonly #disposed = new AbortController()

  constructor(options: FakeRuntimeOptions = {}) {
    this.engine = options.engine ?? new FakeEngine()
    this.#installation = options.installation ?? 'fake'
    this.#options = options
    this.imageTool = options.imageTool ?? ['/opt/sandyard/image-tool']
    this.images = new FakeImageStore({
      installation: this.#installation,
      engine: this.engine,
      exists: (image) => this.#imageIsThere(image),
      factsOf: options.imageFacts ?? (() => ({})),
      call: (point, work, signal) => this.#call(point, work, signal),
    })
  }

  capabilities(): RuntimeCapabilities {
    return { freeze: true, snapshot: 'files', diskLimit: false, egress: true, ...this.#options.capabilities }
  }

  create(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint> {
    return this.#start('create', { spec, files: () => this.#filesOfImage(spec.image) }, signal)
  }

  createFrom(snapshot: RuntimeSnapshot, spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint> {
    return this.#start('createFrom', { spec, files: () => this.#filesOfImage(snapshot.image) }, signal)
  }

  freeze(ref: SandboxRef): Promise<void> {
    return this.#call('freeze', () => {
      const sandbox = this.#alive(ref)
      if (sandbox.state === 'running') this.engine.setState(sandbox, 'frozen', 'frozen')
    })
  }

  thaw(ref: SandboxRef): Promise<SandboxEndpoint> {
    return this.#call('thaw', () => {
      const sandbox = this.#alive(ref)
      if (sandbox.state === 'frozen') this.engine.setState(sandbox, 'running', 'thawed')
      return sandbox.endpoint
    })
  }

  snapshot(ref: SandboxRef, name: string): Promise<RuntimeSnapshot> {
    return this.#call('snapshot', () => {
      checkSnapshotName(name)
      const image = this.images.nameOf(name)
      if (!this.engine.images.has(image)) {
        const { files, spec } = this.#get(ref)
        this.images.keep(image, { files: new Map(files), facts: this.images.factsOf(spec.image) })
      }
      return { image, hasMemory: false }
    })
  }

  deleteSnapshot(snapshot: RuntimeSnapshot): Promise<void> {
    return this.#call('deleteSnapshot', () => {
      this.images.drop(snapshot.image)
    })
  }

  remove(ref: SandboxRef): Promise<void> {
    return this.#call('remove', () => this.engine.drop(this.#installation, ref))
  }

  list(): Promise<RuntimeSandbox[]> {
    return this.#call('list', () =>
      [...this.engine.sandboxes.values()]
        .filter((sandbox) => sandbox.installation === this.#installation)
        .map(({ spec, state, createdAt }) => ({ sandboxId: spec.sandboxId, incarnation: spec.incarnation, state, createdAt })),
    )
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
      const source = on(this.engine.events, 'event', { signal: until, close: ['stop'] })
      return this.#ownEvents(source as AsyncIterable<[string, RuntimeEvent]>, until)
    })
  }

  imageExists(image: ImageRef): Promise<boolean> {
    return this.#call('imageExists', () => this.#imageIsThere(image))
  }

  /** Ends the event streams. Sandboxes stay: they belong to the engine. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort()
  }

  async #start(
    point: 'create' | 'createFrom',
    { spec, files }: { spec: SandboxSpec; files: () => ReadonlyMap<string, string> },
    signal?: AbortSignal,
  ): Promise<SandboxEndpoint> {
    const existed = this.engine.find(this.#installation, spec) !== undefined
    try {
      return await this.#call(
        point,
        async () => {
          const found = this.engine.find(this.#installation, spec)
          if (found?.state === 'stopped') throw new AppError('conflict', `Sandbox "${spec.sandboxId}" has ended.`)
          if (found !== undefined) return found.endpoint
          const own = new Map(files())
          const endpoint = (await this.#options.endpointOf?.(spec)) ?? NOWHERE
          signal?.throwIfAborted()
          const raced = this.engine.find(this.#installation, spec)
          if (raced !== undefined) return raced.endpoint
          this.engine.put({ installation: this.#installation, spec, endpoint, files: own, state: 'running', createdAt: new Date() })
          return endpoint
        },
        signal,
      )
    } catch (err) {
      if (!existed) this.engine.drop(this.#installation, spec)
      throw err
    }
  }

  #call<T>(point: Parameters<Faults['run']>[0], work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.faults.run(
      point,
      () => {
        if (!this.engine.reachable) throw new AppError('unavailable', 'The engine cannot be reached.')
        return work()
      },
      signal,
    )
  }

  async *#ownEvents(source: AsyncIterable<[string, RuntimeEvent]>, until: AbortSignal): AsyncIterable<RuntimeEvent> {
    try {
      for await (const [installation, event] of source) if (installation === this.#installation) yield event
    } catch (err) {
      if (!until.aborted) throw err
    }
  }

  #imageIsThere(image: ImageRef): boolean {
    if (image.startsWith(IMAGE_PREFIX)) return this.engine.images.has(image)
    return this.#options.images?.has(image) ?? true
  }

  #filesOfImage(image: ImageRef): ReadonlyMap<string, string> {
    if (!this.#imageIsThere(image)) throw new AppError('not_found', `Image "${image}" does not exist.`)
    return this.engine.images.get(image)?.files ?? new Map()
  }

  #get(ref: SandboxRef): FakeSandbox {
    const sandbox = this.engine.find(this.#installation, ref)
    if (sandbox === undefined) throw new AppError('not_found', `Sandbox "${ref.sandboxId}" does not exist.`)
    return sandbox
  }

  #alive(ref: SandboxRef): FakeSandbox {
    const sandbox = this.#get(ref)
    if (sandbox.state === 'stopped') throw new AppError('failed_precondition', `Sandbox "${ref.sandboxId}" has ended.`)
    return sandbox
  }
}
