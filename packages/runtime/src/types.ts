import type { Secret } from '@sandyard/kit/config/secret'

/** One start of a sandbox. The id stays the same after a resume, but background work must never change a later incarnation. */
export interface SandboxRef {
  readonly sandboxId: string
  /** Counts the starts of a sandbox, from 1. */
  readonly incarnation: number
}

/** An image that a runtime can start. Only the runtime that made it can interpret it. */
export type ImageRef = string & { readonly __brand?: 'ImageRef' }

export interface SandboxResources {
  readonly cpuCount: number
  readonly memoryMib: number
  /** Enforced only when `RuntimeCapabilities.diskLimit` is true. */
  readonly diskMib: number
}

export interface SandboxSpec extends SandboxRef {
  readonly image: ImageRef
  readonly resources: SandboxResources
  /**
   * Authenticates `/init` to the daemon of this start. The runtime puts `secretDigest` of it in a file that only the platform writes, and names
   * the file in the daemon's environment as `SANDYARD_INSTANCE_FILE`. The key and the identity of the sandbox reach the daemon only by `/init`.
   */
  readonly instanceKey: Secret
  /** False for a template that forbids set-uid programs; then `sudo` does not work inside. */
  readonly allowPrivilegeGain: boolean
}

/** The address under which the proxy and the api reach the daemon and the user's servers of a sandbox. */
export interface SandboxEndpoint {
  readonly host: string
  /** Port of the daemon on `host`. The user's ports have their own numbers on the same host. */
  readonly daemonPort: number
}

export type RuntimeState = 'running' | 'frozen' | 'stopped'

/** The state of a sandbox as the runtime reports it. The reconciler compares it with the rows. */
export interface RuntimeSandbox extends SandboxRef {
  readonly state: RuntimeState
  readonly createdAt: Date
}

export interface Usage {
  readonly memoryBytes: number
  readonly cpuMicroseconds: number
  readonly pids: number
}

/** Files of a sandbox at one instant, and its memory if the runtime can store it. */
export interface RuntimeSnapshot {
  readonly image: ImageRef
  readonly hasMemory: boolean
}

export type RuntimeEvent = SandboxRef & { readonly kind: 'exited' | 'out_of_memory' | 'frozen' | 'thawed' }

export interface RuntimeCapabilities {
  /** A pause keeps memory and processes. */
  readonly freeze: boolean
  /** What a snapshot contains: `memory` restores processes too. */
  readonly snapshot: 'none' | 'files' | 'memory'
  readonly diskLimit: boolean
  /** The default egress rules are enforced outside of the sandbox, so that it cannot change them. */
  readonly egress: boolean
}
