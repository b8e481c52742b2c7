/** A sandbox of one start: an id may live on over resumes, and background work must never touch a later incarnation. */
export interface SandboxRef {
  readonly sandboxId: string
  /** Counts the starts of a sandbox, from 1. */
  readonly incarnation: number
}

/** An image that a runtime can start: opaque to everyone but the runtime that made it. */
export type ImageRef = string & { readonly __brand?: 'ImageRef' }

export interface SandboxResources {
  readonly cpuCount: number
  readonly memoryMib: number
  /** Enforced only where `RuntimeCapabilities.diskLimit` says so. */
  readonly diskMib: number
}

export interface SandboxSpec extends SandboxRef {
  readonly image: ImageRef
  readonly resources: SandboxResources
  /** Environment of the daemon, not of the user's processes. */
  readonly daemonEnv: Readonly<Record<string, string>>
  /** False for a template that forbids set-uid programs; then `sudo` does not work inside. */
  readonly allowPrivilegeGain: boolean
}

/** Where the daemon and the user's servers of a sandbox are reached from the proxy and the api. */
export interface SandboxEndpoint {
  readonly host: string
  /** Port of the daemon on `host`; the user's ports are reached on `host` by their own number. */
  readonly daemonPort: number
}

export type RuntimeState = 'running' | 'frozen' | 'stopped'

/** What a runtime says of one of its sandboxes; the reconciler compares it with the rows. */
export interface RuntimeSandbox extends SandboxRef {
  readonly state: RuntimeState
  readonly createdAt: Date
}

export interface Usage {
  readonly memoryBytes: number
  readonly cpuMicroseconds: number
  readonly pids: number
}

/** Files of a sandbox at one instant, and its memory where the runtime can. */
export interface RuntimeSnapshot {
  readonly image: ImageRef
  readonly hasMemory: boolean
}

export type RuntimeEvent = SandboxRef & { readonly kind: 'exited' | 'out_of_memory' | 'frozen' | 'thawed' }

export interface RuntimeCapabilities {
  /** A pause keeps memory and processes. */
  readonly freeze: boolean
  /** What a snapshot holds: `memory` restores processes too. */
  readonly snapshot: 'none' | 'files' | 'memory'
  readonly diskLimit: boolean
  /** The default egress rules are enforced where the sandbox cannot change them. */
  readonly egress: boolean
}
