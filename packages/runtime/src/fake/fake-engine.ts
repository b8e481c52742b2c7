import { EventEmitter } from 'node:events'
import { randomId } from '@sandyard/kit/ids/ids'
import type { ImageFacts } from '../image-store.ts'
import type {
  EgressPolicy,
  RuntimeEvent,
  RuntimeSnapshot,
  RuntimeState,
  RuntimeVitals,
  SandboxEnd,
  RuntimeHost,
  SandboxEndpoint,
  SandboxRef,
  SandboxSpec,
} from '../types.ts'
import { FakeVolumes } from './fake-volumes.ts'

export interface FakeSandbox {
  readonly installation: string
  readonly spec: SandboxSpec
  readonly createdAt: Date
  readonly files: Map<string, string>
  /** Those of its image. */
  readonly original: ReadonlyMap<string, string>
  /** What its processes have in memory: a test may keep something in it. It is empty after their end. */
  readonly memory: Map<string, string>
  state: RuntimeState
  /** Of its last processes. */
  end?: SandboxEnd
  /** Identifies one start of the processes. */
  startId: string
  endpoint: SandboxEndpoint
  /** The policy in force. */
  egress: EgressPolicy
}

/** The settings of an image for the processes in it. */
export type FakeImageFacts = Omit<ImageFacts, 'image'>

/** An image that an installation keeps. */
export interface FakeImage {
  readonly installation: string
  readonly files: ReadonlyMap<string, string>
  /** Of a snapshot with memory. */
  readonly memory?: ReadonlyMap<string, string>
  readonly facts: FakeImageFacts
  readonly createdAt: Date
  /** Of an image that is a snapshot. */
  readonly snapshot?: RuntimeSnapshot
}

const GIB = 1024 ** 3

/** The host that fake runtimes share. It outlives them, as a real engine outlives the control plane. */
export class FakeEngine {
  readonly id = randomId(32)
  readonly sandboxes = new Map<string, FakeSandbox>()
  /** By name: snapshots, and images that the image stores have created. */
  readonly images = new Map<string, FakeImage>()
  readonly volumes = new FakeVolumes()
  readonly #events = new EventEmitter<{ event: [string, RuntimeEvent]; stop: [] }>().setMaxListeners(0)
  /** What the vitals say; a test may change it. */
  disk: RuntimeVitals['disk'] = { sizeBytes: 100 * GIB, freeBytes: 60 * GIB }
  host: RuntimeHost = { processors: 2, memoryBytes: 64 * GIB }
  memory: RuntimeVitals['memory'] = { totalBytes: 64 * GIB, availableBytes: 48 * GIB }
  #reachable = true

  get reachable(): boolean {
    return this.#reachable
  }

  get events(): EventEmitter<{ event: [string, RuntimeEvent]; stop: [] }> {
    return this.#events
  }

  find(installation: string, ref: SandboxRef): FakeSandbox | undefined {
    return this.sandboxes.get(keyOf(installation, ref))
  }

  put(sandbox: FakeSandbox): void {
    this.sandboxes.set(keyOf(sandbox.installation, sandbox.spec), sandbox)
  }

  /** Removes a sandbox; its processes end with it. An absent sandbox is success. */
  drop(installation: string, ref: SandboxRef): void {
    const sandbox = this.find(installation, ref)
    if (sandbox === undefined) return
    if (sandbox.state !== 'stopped') this.exit(installation, ref)
    this.sandboxes.delete(keyOf(installation, ref))
  }

  setState(sandbox: FakeSandbox, state: RuntimeState, kind: RuntimeEvent['kind']): void {
    sandbox.state = state
    if (state === 'stopped') end(sandbox, 'unknown')
    const { sandboxId, incarnation } = sandbox.spec
    this.#events.emit('event', sandbox.installation, { sandboxId, incarnation, kind })
  }

  /** The daemon of the sandbox ends by itself, as after a crash or a kill by the kernel's out-of-memory killer. */
  exit(installation: string, ref: SandboxRef, kind: 'exited' | 'out_of_memory' = 'exited'): void {
    const sandbox = this.find(installation, ref)
    if (sandbox === undefined) return
    if (kind === 'out_of_memory') this.setState(sandbox, sandbox.state, kind)
    this.setState(sandbox, 'stopped', 'exited')
    if (kind === 'out_of_memory') end(sandbox, kind)
  }

  /** Stops the engine: every call is `unavailable`, event streams end, and all sandboxes end. Their files stay. */
  stop(): void {
    this.#reachable = false
    for (const sandbox of this.sandboxes.values()) {
      if (sandbox.state !== 'stopped') end(sandbox, 'engine')
      sandbox.state = 'stopped'
    }
    this.#events.emit('stop')
  }

  /** Starts the engine again. */
  start(): void {
    this.#reachable = true
  }
}

function end(sandbox: FakeSandbox, cause: SandboxEnd['cause']): void {
  sandbox.memory.clear()
  sandbox.end = { at: new Date(), cause }
}

function keyOf(installation: string, ref: SandboxRef): string {
  return `${installation}/${ref.sandboxId}/${ref.incarnation}`
}
