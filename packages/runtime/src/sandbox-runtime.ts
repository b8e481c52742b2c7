import type { ImageStore } from './image-store.ts'
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
} from './types.ts'
import type { VolumeStore } from './volume-store.ts'

/**
 * Runs sandboxes. The control plane reaches an engine only through this interface, so its terms are sandboxes, never containers.
 *
 * Every method is idempotent by `(sandboxId, incarnation)` and may be called again after a crash. Failures are `AppError`s:
 * `not_found` for an absent sandbox or image, `unavailable` when the engine cannot be reached, `resource_exhausted` when
 * the host has no room. A function that a runtime does not have is a declared capability, not a method that fails.
 */
export interface SandboxRuntime extends AsyncDisposable {
  readonly name: string

  readonly images: ImageStore

  /** Undefined without `capabilities().mounts`. */
  readonly volumes: VolumeStore | undefined

  /**
   * The command inside any sandbox that prepares its files to become an image; a name and JSON arguments follow it. Empty when the
   * distribution of the daemon has none.
   */
  readonly imageTool: readonly string[]

  capabilities(): RuntimeCapabilities

  /** The machine that sandboxes run on. Cheap: it is read when the runtime opens. */
  host(): RuntimeHost

  /** Changes whenever a sandbox that is created now differs from one of the same spec before: the version of its daemon, the settings. Cheap. */
  generation(): string

  /** Returns when the engine answers. Cheap: it reads no sandbox. @throws AppError `unavailable` or `deadline_exceeded`; the abort reason */
  ping(signal: AbortSignal): Promise<void>

  /** Cheap, for a page of metrics. @throws AppError `unavailable` or `deadline_exceeded`; the abort reason */
  vitals(signal: AbortSignal): Promise<RuntimeVitals>

  /**
   * A random id that is stored in the engine. The first call creates it; it never changes. All runtimes of one engine return the same
   * id; two engines never have the same id. @throws the abort reason
   */
  engineId(signal: AbortSignal): Promise<string>

  /**
   * Starts a sandbox with its limits and the default egress rules in force. On return its address is known and its daemon is
   * starting; no process of the user runs before the caller's `/init`. After a failure or an abort nothing is left. A repeated call for
   * a running sandbox returns the same endpoint. For an ended sandbox it is a `conflict`: its files exist until `remove`.
   */
  create(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint>

  /** Like `create`, from a snapshot; the spec's image is ignored. @throws AppError `failed_precondition` for a snapshot of another runtime, version or engine */
  createFrom(snapshot: RuntimeSnapshot, spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint>

  /**
   * Like `createFrom`, but the sandbox is paused with its files and has no processes: for a paused sandbox of a backup. A repeated call for a
   * paused sandbox returns the same handle. For a running sandbox it is a `conflict`.
   *
   * @throws AppError `failed_precondition` for a snapshot of another runtime, version or engine; `not_found` without its image
   */
  createPaused(snapshot: RuntimeSnapshot, spec: SandboxSpec): Promise<PauseHandle>

  /**
   * Pauses a sandbox and returns the handle that `resume` needs. `memory` stops the processes and keeps them (needs
   * `capabilities().pause === 'memory'`, else `unimplemented`); `files` ends the processes and frees their memory. A sandbox that is paused
   * is success, also after a crash: the handle is the same. `files` for a sandbox that is paused with memory drops the memory. For an ended
   * sandbox `files` is success and `memory` is `failed_precondition`. After a failure of `files` the sandbox may have ended; the same call
   * again completes the pause.
   *
   * @param former - the handle of an earlier pause: `memory` keeps only the memory of that pause. If its processes have ended and others were
   * started since, they are ended as with `files`, because they may not be prepared.
   */
  pause(ref: SandboxRef, keep: Keep, former?: PauseHandle): Promise<PauseHandle>

  /**
   * Runs a paused sandbox again, with the same files; the reference stays the same. `keep: 'files'` starts it from its files although its
   * memory is there. After a failure or an abort the sandbox is paused, or stopped with all its files: `resume` may be called again. A running
   * sandbox is success. When `restored` is `files`, the daemon starts anew and needs `/init`, as after `create`, and the endpoint may be
   * another one.
   *
   * @throws AppError `failed_precondition` for a handle of another runtime, version, engine or sandbox
   */
  resume(handle: PauseHandle, request: ResumeRequest, signal?: AbortSignal): Promise<Resumed>

  /**
   * Stores the files of the sandbox as of one instant, and with `memory` its processes (needs `capabilities().snapshot === 'memory'`, else
   * `unimplemented`). The sandbox keeps its state: running, frozen or ended. `name` (`[a-z0-9][a-z0-9_.-]*`, at most 100) identifies the
   * snapshot: a second call with the same name returns the existing snapshot.
   */
  snapshot(ref: SandboxRef, request: SnapshotRequest): Promise<RuntimeSnapshot>

  /**
   * Replaces the egress policy of a running or paused sandbox atomically. After an abort it is not put in force any more, unless that had begun.
   *
   * @throws AppError `unimplemented` without `capabilities().egressPolicies`; the abort reason
   */
  setEgress(ref: SandboxRef, policy: EgressPolicy, signal?: AbortSignal): Promise<void>

  /** An absent snapshot is success. @throws AppError `failed_precondition` for a snapshot of another runtime, version or engine */
  deleteSnapshot(snapshot: RuntimeSnapshot): Promise<void>

  /** Ends a sandbox and frees all its resources. An absent sandbox is success. */
  remove(ref: SandboxRef): Promise<void>

  /** The sandboxes of this installation in any state: all of them, or all incarnations of one. */
  list(sandboxId?: string): Promise<RuntimeSandbox[]>

  /**
   * What the files of a sandbox have that the image which it was made from has not, in any state of the sandbox. Nothing runs inside. Volumes are
   * left out, and folders in which only something else has changed.
   *
   * @param maxBytes - of the engine's list, which is cut there
   * @throws AppError `not_found` for an absent sandbox, `unimplemented` without `capabilities().changes`; the abort reason
   */
  changes(ref: SandboxRef, maxBytes: number, signal: AbortSignal): Promise<RuntimeChanges>

  /**
   * A file as it is in the image which the sandbox was made from, whatever the sandbox has there now. Nothing runs inside. Links in the folders of
   * the path are followed within the image, one at its end is not.
   *
   * @throws AppError `not_found` for an absent sandbox, `invalid_argument` for a path that is not absolute, `unimplemented` without
   * `capabilities().changes`; the abort reason
   */
  readOriginal(ref: SandboxRef, request: OriginalRequest, signal: AbortSignal): Promise<OriginalFile>

  /** How the processes of a sandbox ended; undefined for one that has some, and for one that is absent. */
  findEnd(ref: SandboxRef): Promise<SandboxEnd | undefined>

  /** Usage by sandbox id. The map omits sandboxes that are absent, have ended or do not answer in time. */
  usage(refs: readonly SandboxRef[]): Promise<Map<string, Usage>>

  /**
   * Events until `signal` aborts. The stream contains all events after the promise has resolved, so a caller that subscribes and then
   * lists misses none. An event is only a hint to read the state: it may come twice, and for a short time `list` may still return the old
   * state. The stream ends early when the connection to the engine ends, and when the caller has more unread events than the cap: then
   * the caller subscribes and lists again.
   */
  events(signal: AbortSignal): Promise<AsyncIterable<RuntimeEvent>>

  imageExists(image: ImageRef): Promise<boolean>
}

export interface ResumeRequest {
  /** The spec of the paused sandbox. */
  readonly spec: SandboxSpec
  /** `memory`: as the handle allows. */
  readonly keep: Keep
}

export interface OriginalRequest {
  /** Absolute, in the sandbox. */
  readonly path: string
  /** A larger file is not read. */
  readonly maxBytes: number
}

export interface SnapshotRequest {
  readonly name: string
  readonly keep: Keep
}
