import type { Readable } from 'node:stream'
import type { ImageRef, RuntimeSnapshot, SandboxRef } from './types.ts'

/**
 * What a backup needs of an engine (docs/backup.md). It may be open beside the servers of the installation, on which it has no effect.
 */
export interface EngineArchive {
  /** `SandboxRuntime.engineId`. */
  engineId(signal: AbortSignal): Promise<string>

  /**
   * The files of a sandbox in any state, as `SandboxRuntime.snapshot` stores them. Meant for paused ones. The snapshot is an image of the
   * installation, which the caller deletes.
   *
   * @throws AppError `not_found` for an absent sandbox
   */
  snapshot(ref: SandboxRef, name: string): Promise<RuntimeSnapshot>

  /** An absent snapshot is success. */
  deleteSnapshot(snapshot: RuntimeSnapshot): Promise<void>

  imageExists(image: ImageRef): Promise<boolean>

  /**
   * Images with their names and all their layers, as one stream that `load` reads. Layers that images share are in it once.
   *
   * @throws AppError `not_found` when one of them is absent
   */
  save(images: readonly ImageRef[]): Promise<Readable>

  /** Stores the images of a stream of `save`. Images that the engine has stay. @throws AppError `failed_precondition` with the engine's reason */
  load(archive: AsyncIterable<Uint8Array>): Promise<void>

  /** The names of all volumes of the installation in the volume store. */
  listVolumes(): Promise<readonly string[]>

  /**
   * All files of a volume, as one stream that `loadVolume` reads. Files that sandboxes change meanwhile may be of different moments.
   *
   * @throws AppError `not_found` for an absent volume; the stream fails with `unavailable` when it is not whole
   */
  saveVolume(name: string): Promise<Readable>

  /**
   * Makes a volume with the files of a stream of `saveVolume`. After a failure the same call begins again.
   *
   * @returns false when the engine has the volume, which stays as it is
   * @throws AppError `failed_precondition` with the engine's reason
   */
  loadVolume(name: string, archive: AsyncIterable<Uint8Array>): Promise<boolean>
}
