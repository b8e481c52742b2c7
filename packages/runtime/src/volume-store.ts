import type { Secret } from '@sandyard/kit/config/secret'

/** Where the file service of a volume answers: HTTP, with the key of its `open` in each request. */
export interface VolumeEndpoint {
  readonly host: string
  readonly port: number
}

/**
 * The volumes of an installation, each under a name that it had once and no other volume ever has. Every method is idempotent by name and may be
 * called again after a crash. Failures are `AppError`s, as of `SandboxRuntime`.
 */
export interface VolumeStore {
  /** Makes an empty volume that every user of a sandbox may write; nothing when it exists. It must be called before a sandbox mounts it. */
  create(name: string, signal?: AbortSignal): Promise<void>

  /** Removes a volume with its files. False while something uses it: call it again later. True when it is gone. */
  remove(name: string, signal?: AbortSignal): Promise<boolean>

  /** Starts the file service of a volume, or finds the running one. It ends itself when it is not used for a while. */
  open(name: string, key: Secret, signal?: AbortSignal): Promise<VolumeEndpoint>

  /** Bytes of the files by name, as the engine counts them; without those that it cannot count. Slow: the engine reads all volumes. */
  sizes(signal?: AbortSignal): Promise<ReadonlyMap<string, number>>

  /** Bytes of the files of one volume. @throws AppError `not_found`; `unavailable` when it could not be measured within `timeoutMs` */
  sizeOf(name: string, timeoutMs: number, signal?: AbortSignal): Promise<number>

  /** The names of all volumes of the installation, also of those without a row. */
  list(signal?: AbortSignal): Promise<readonly string[]>
}
