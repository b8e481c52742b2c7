import { EventEmitter } from 'node:events'
import type { ImageFacts } from '../image-store.ts'
import type { RuntimeEvent, RuntimeState, SandboxEndpoint, SandboxRef, SandboxSpec } from '../types.ts'

export interface FakeSandbox {
  readonly installation: string
  readonly spec: SandboxSpec
  readonly endpoint: SandboxEndpoint
  readonly createdAt: Date
  readonly files: Map<string, string>
  state: RuntimeState
}

/** What an image says of the processes in it. */
export type FakeImageFacts = Omit<ImageFacts, 'image'>

/** An image that an installation keeps. */
export interface FakeImage {
  readonly installation: string
  readonly files: ReadonlyMap<string, string>
  readonly facts: FakeImageFacts
  readonly createdAt: Date
}

/** The host that fake runtimes share: it outlives them, as an engine outlives the control plane. */
export class FakeEngine {
  readonly sandboxes = new Map<string, FakeSandbox>()
  /** By name: snapshots and what image stores have made. */
  readonly images = new Map<string, FakeImage>()
  readonly #events = new EventEmitter<{ event: [string, RuntimeEvent]; stop: [] }>().setMaxListeners(0)
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

  /** Removes a sandbox; its processes end with it. Absent is success. */
  drop(installation: string, ref: SandboxRef): void {
    const sandbox = this.find(installation, ref)
    if (sandbox === undefined) return
    if (sandbox.state !== 'stopped') this.exit(installation, ref)
    this.sandboxes.delete(keyOf(installation, ref))
  }

  setState(sandbox: FakeSandbox, state: RuntimeState, kind: RuntimeEvent['kind']): void {
    sandbox.state = state
    const { sandboxId, incarnation } = sandbox.spec
    this.#events.emit('event', sandbox.installation, { sandboxId, incarnation, kind })
  }

  /** The sandbox's daemon ends by itself: what a crash or the kernel's out-of-memory killer does. */
  exit(installation: string, ref: SandboxRef, kind: 'exited' | 'out_of_memory' = 'exited'): void {
    const sandbox = this.find(installation, ref)
    if (sandbox === undefined) return
    if (kind === 'out_of_memory') this.setState(sandbox, sandbox.state, kind)
    this.setState(sandbox, 'stopped', 'exited')
  }

  /** The engine goes away: every call is `unavailable` and event streams end. Sandboxes end with it, files stay. */
  stop(): void {
    this.#reachable = false
    for (const sandbox of this.sandboxes.values()) sandbox.state = 'stopped'
    this.#events.emit('stop')
  }

  /** The engine answers again. */
  start(): void {
    this.#reachable = true
  }
}

function keyOf(installation: string, ref: SandboxRef): string {
  return `${installation}/${ref.sandboxId}/${ref.incarnation}`
}
