import type { ImageStore } from './image-store.ts'
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
} from './types.ts'

/**
 * Runs sandboxes. The only way from the control plane to an engine, so it speaks of sandboxes and never of containers.
 *
 * Every method may be called again after a crash: it is idempotent by `(sandboxId, incarnation)`. Failures are `AppError`s:
 * `not_found` for an absent sandbox or image, `unavailable` when the engine cannot be reached, `resource_exhausted` when
 * the host has no room. What a runtime cannot do at all is a declared capability, not a method that fails.
 */
export interface SandboxRuntime extends AsyncDisposable {
  readonly name: string

  readonly images: ImageStore

  /**
   * The command, inside any sandbox, that prepares its files to become an image; a name and JSON arguments follow it. Empty where the
   * daemon's distribution has none.
   */
  readonly imageTool: readonly string[]

  capabilities(): RuntimeCapabilities

  /**
   * Starts a sandbox with its limits and the default egress rules in force. On return its address is known and its daemon is
   * starting; nothing of the user runs before the caller's `/init`. On failure or abort nothing is left behind. Called again for
   * one that runs, it answers the same endpoint; for one that has ended it is a `conflict`: nobody's files are thrown away unasked.
   */
  create(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint>

  /** Like `create`, from a snapshot; the spec's image is ignored. */
  createFrom(snapshot: RuntimeSnapshot, spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint>

  /** Stops the processes and keeps memory. Needs `capabilities().freeze`. Already frozen is success; ended is `failed_precondition`. */
  freeze(ref: SandboxRef): Promise<void>

  /** Undoes `freeze`. Already running is success; ended, as after a restart of the engine, is `failed_precondition`. */
  thaw(ref: SandboxRef): Promise<SandboxEndpoint>

  /**
   * Keeps the sandbox's files at one instant; the sandbox goes on as it was: running, frozen or ended. `name` (`[a-z0-9][a-z0-9_.-]*`,
   * at most 100) identifies the snapshot for good: called again with it, the answer is the snapshot that is there.
   */
  snapshot(ref: SandboxRef, name: string): Promise<RuntimeSnapshot>

  /** Absent is success. */
  deleteSnapshot(snapshot: RuntimeSnapshot): Promise<void>

  /** Ends a sandbox and frees all that it held. Absent is success. */
  remove(ref: SandboxRef): Promise<void>

  /** Every sandbox of this installation, in any state. */
  list(): Promise<RuntimeSandbox[]>

  /** Absent sandboxes are absent from the map, which is keyed by sandbox id. */
  usage(refs: readonly SandboxRef[]): Promise<Map<string, Usage>>

  /**
   * Events until `signal` aborts. Whatever happens after the promise has resolved is in the stream, so a caller that subscribes
   * and then lists misses nothing. An event is a hint to look: it may come twice, and `list` may tell the former state for a moment
   * after it. Ends early when the engine goes away: callers list again and resubscribe.
   */
  events(signal: AbortSignal): Promise<AsyncIterable<RuntimeEvent>>

  imageExists(image: ImageRef): Promise<boolean>
}
