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
  /** Volumes in the sandbox. A runtime without `capabilities().mounts` refuses any with `unimplemented`. */
  readonly mounts: readonly SandboxMount[]
  /** What the sandbox may reach. A runtime without `capabilities().egressPolicies` refuses all but `DEFAULT_EGRESS` with `unimplemented`. */
  readonly egress: EgressPolicy
}

/** A volume of the runtime's volume store, at an absolute path in the sandbox. */
export interface SandboxMount {
  readonly volume: string
  readonly path: string
  readonly readOnly: boolean
}

/**
 * The wanted egress of a sandbox (control-plane.md 18.4). The control plane owns it, the runtime applies it. The ranges that are closed to
 * every sandbox stay closed.
 */
export interface EgressPolicy {
  /** False denies everything that `allowOut` does not list. */
  readonly allowInternet: boolean
  /** IPv4 addresses and CIDRs. Domains are the gateway's. */
  readonly allowOut: readonly string[]
  /** IPv4 addresses and CIDRs. */
  readonly denyOut: readonly string[]
  readonly gateway: GatewayShare
  /** Lookups go to the filter of the egress gateway, whichever resolver the sandbox asks. */
  readonly filterLookups: boolean
}

/**
 * The new TCP connections that go to the egress gateway, which decides on them: `names`, those to ports 80 and 443 that `allowOut` does not
 * allow; `web`, all to ports 80 and 443; `all`, all of them. What is closed to every sandbox never gets there.
 */
export type GatewayShare = 'none' | 'names' | 'web' | 'all'

export const DEFAULT_EGRESS: EgressPolicy = { allowInternet: true, allowOut: [], denyOut: [], gateway: 'none', filterLookups: false }

/** Packets of a sandbox that a rule has refused: a sample, counted for a second. */
export interface RefusedPackets {
  /** `always_closed`, or `deny` of the sandbox's policy. */
  readonly rule: string
  /** The address of the sandbox. */
  readonly source: string
  readonly address: string
  /** `tcp`, `udp`, `icmp` or the number of another protocol. */
  readonly protocol: string
  /** 0 for protocols without ports. */
  readonly port: number
  readonly count: number
}

/** What a pause keeps: `memory` keeps processes and files, `files` frees all memory. */
export type Keep = 'memory' | 'files'

/**
 * The handle of a paused sandbox: a JSON object that the control plane stores. Only the runtime that made it reads the rest of its fields.
 */
export interface PauseHandle {
  /** `SandboxRuntime.name`. */
  readonly runtime: string
  /** The version of the format of the handle. */
  readonly version: number
  /** `SandboxRuntime.engineId` of the engine with the sandbox. */
  readonly engine: string
  /** What the sandbox has: `memory` may have been lost since, as after a restart of the engine. */
  readonly keep: Keep
  readonly [field: string]: unknown
}

/** A sandbox that runs again. */
export interface Resumed {
  readonly endpoint: SandboxEndpoint
  /** `files` when the processes are not the ones of the pause: it was asked for, or the memory was lost, as after a restart of the engine. */
  readonly restored: Keep
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

/** A path of a sandbox that is not as in its image: a file, a folder, a link or something else. */
export interface RuntimeChange {
  readonly path: string
  readonly kind: 'added' | 'modified' | 'deleted'
}

export interface RuntimeChanges {
  readonly changes: readonly RuntimeChange[]
  /** There are more. */
  readonly isCut: boolean
}

/** What an image has at a path. */
export type OriginalFile =
  | { readonly kind: 'file'; readonly content: Buffer }
  /** A file with more bytes than asked for. */
  | { readonly kind: 'large'; readonly sizeBytes: number }
  | { readonly kind: 'absent' | 'directory' | 'symlink' | 'special' }

/** How the processes of a sandbox ended. */
export interface SandboxEnd {
  /** By the clock of the engine's host. */
  readonly at: Date
  /** `out_of_memory`: the kernel has killed the daemon. `engine`: they were gone when the engine started. */
  readonly cause: 'out_of_memory' | 'engine' | 'unknown'
}

export interface Usage {
  readonly memoryBytes: number
  readonly cpuMicroseconds: number
  readonly pids: number
}

/** Files of a sandbox at one instant, and its memory if the runtime can store it. A JSON object that the control plane stores. */
export interface RuntimeSnapshot {
  /** `SandboxRuntime.name`. */
  readonly runtime: string
  /** The version of the format of the snapshot. */
  readonly version: number
  /** `SandboxRuntime.engineId` of the engine with the snapshot. */
  readonly engine: string
  readonly image: ImageRef
  readonly hasMemory: boolean
  /** What it adds to the image of its sandbox, without the parts that both share. */
  readonly sizeBytes: number
  /** The sandbox at that time: a restore of memory needs the same. */
  readonly spec: SnapshotSpec
}

export interface SnapshotSpec {
  readonly resources: SandboxResources
  readonly allowPrivilegeGain: boolean
  readonly mounts: readonly SandboxMount[]
}

export type RuntimeEvent = SandboxRef & { readonly kind: 'exited' | 'out_of_memory' | 'frozen' | 'thawed' }

/** The machine that sandboxes run on, which may be another one than that of this process. */
export interface RuntimeHost {
  readonly processors: number
  readonly memoryBytes: number
}

/** The state of an engine, for its operator. */
export interface RuntimeVitals {
  /** How often the process that enforces egress rules was started again after it had ended by itself. */
  readonly guardRestarts: number
  /** The file system with the files of the engine; undefined when it cannot be read. */
  readonly disk: { readonly sizeBytes: number; readonly freeBytes: number } | undefined
  /** The memory of the engine's host; undefined when it cannot be read. `availableBytes` is what processes can still get without swapping. */
  readonly memory: { readonly totalBytes: number; readonly availableBytes: number } | undefined
}

export interface RuntimeCapabilities {
  /** What a pause can keep. Every runtime can keep files. */
  readonly pause: Keep
  /** What a snapshot contains: `memory` restores processes too. */
  readonly snapshot: 'none' | 'files' | 'memory'
  readonly diskLimit: boolean
  /** The default egress rules are enforced outside of the sandbox, so that it cannot change them. */
  readonly egress: boolean
  /** Egress policies other than the default are enforced. */
  readonly egressPolicies: boolean
  /** The address to which connections for the egress gateway are redirected; undefined when the runtime cannot redirect them. */
  readonly egressGateway: string | undefined
  /** Volumes can be mounted. */
  readonly mounts: boolean
  /** What the files of a sandbox have that its image has not can be listed. */
  readonly changes: boolean
}
