import { AppError } from '@sandyard/kit/errors/app-error'
import { EventBuffer } from '../event-buffer.ts'
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
  /** Runtimes with the same engine and installation share their sandboxes. Default: an engine of its own. */
  readonly engine?: FakeEngine
  readonly installation?: string
  /** Returns the daemon address of a new sandbox: a test points it to its own server. Default: a port where nothing listens. */
  readonly endpointOf?: (spec: SandboxSpec) => SandboxEndpoint | Promise<SandboxEndpoint>
  /** The images that exist. Default: all. */
  readonly images?: ReadonlySet<string>
  /** Settings of images, by the reference to pull or the text of a Dockerfile. Default: none. */
  readonly imageFacts?: (source: string) => Partial<FakeImageFacts>
  /** Default: a command that does not exist in any sandbox. */
  readonly imageTool?: readonly string[]
  readonly capabilities?: Partial<RuntimeCapabilities>
  readonly maxUnreadEvents?: number
}

const NOWHERE: SandboxEndpoint = { host: '127.0.0.1', daemonPort: 1 }

/** A runtime without processes, for tests of the control plane. It gives the same guarantees, and a test can make every call fail. */
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

  ping(signal: AbortSignal): Promise<void> {
    return this.#call('ping', () => undefined, signal)
  }

  engineId(signal: AbortSignal): Promise<string> {
    return this.#call('engineId', () => this.engine.id, signal)
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

  list(sandboxId?: string): Promise<RuntimeSandbox[]> {
    return this.#call('list', () =>
      [...this.engine.sandboxes.values()]
        .filter(({ installation, spec }) => installation === this.#installation && spec.sandboxId === (sandboxId ?? spec.sandboxId))
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
      const { events } = this.engine
      const onEvent = (installation: string, event: RuntimeEvent): void => {
        if (installation === this.#installation) buffer.add(event)
      }
      const onStop = (): void => buffer.end()
      const buffer: EventBuffer = new EventBuffer(() => events.off('event', onEvent).off('stop', onStop), this.#options.maxUnreadEvents)
      events.on('event', onEvent).on('stop', onStop)
      until.addEventListener('abort', () => buffer.abort(), { once: true })
      if (until.aborted) buffer.abort()
      return buffer
    })
  }

  imageExists(image: ImageRef): Promise<boolean> {
    return this.#call('imageExists', () => this.#imageIsThere(image))
  }

  /** Ends the event streams. Sandboxes stay, because they belong to the engine. */
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
