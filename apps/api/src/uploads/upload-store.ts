import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Database } from '@sandyard/db/database'
import type { ArchiveLimits } from '@sandyard/kit/archive/entry-rules'
import { Semaphore } from '@sandyard/kit/async/semaphore'
import { checkArchive, diskFull, writeArchive } from './receive-archive.ts'
import { UploadBody } from './upload-body.ts'
import type { UploadFolder } from './upload-folder.ts'
import type { UploadKey } from './upload-link.ts'
import { lockUpload, touchUpload, upsertUpload } from './upload-queries.ts'

export interface UploadParts {
  readonly database: Database
  readonly folder: UploadFolder
  readonly limits: ArchiveLimits
  readonly onStored?: (sizeBytes: number) => void
}

export interface ArchiveSource {
  readonly body: Readable
  /** As its sender declared it. */
  readonly sizeBytes: number
}

/** Uploads leave the host so much. */
const RESERVE_BYTES = 256 * 1024 ** 2
/** To look through an archive takes a processor. */
const CHECKS_AT_ONCE = 2

/**
 * The archives of COPY steps. One that was taken is there whole after any crash; one that was not leaves a file that upkeep finds. Of
 * several under the same key the last one stays.
 */
export class UploadStore {
  readonly #parts: UploadParts
  readonly #checks = new Semaphore(CHECKS_AT_ONCE)
  /** What is on its way and not on the disk yet. */
  #expectedBytes = 0

  constructor(parts: UploadParts) {
    this.#parts = parts
  }

  /** Whether the archive is there; if so it stays for a while, because a build is about to name it. */
  async has(key: UploadKey): Promise<boolean> {
    const { database, folder } = this.#parts
    return (await touchUpload(database.db, key)) && (await folder.exists(key))
  }

  /** The archive from its beginning, for whoever reads it to its end or destroys it. Undefined when it is not there. */
  async open(teamId: string, hash: string): Promise<Readable | undefined> {
    const key = { teamId, hash }
    const { database, folder } = this.#parts
    if (!(await touchUpload(database.db, key))) return undefined
    return (await folder.open(key))?.createReadStream()
  }

  /**
   * Takes an archive, once all of it has arrived and it was found to be one that may be unpacked.
   *
   * @throws AppError `invalid_argument` with the reason, `insufficient_storage`, `deadline_exceeded`
   */
  async take(key: UploadKey, source: ArchiveSource): Promise<void> {
    using body = new UploadBody(source.body)
    this.#expectedBytes += source.sizeBytes
    try {
      await this.#checkSpace()
      await this.#store(key, body, source.sizeBytes)
    } catch (err) {
      await body.drain()
      throw err
    } finally {
      this.#expectedBytes -= source.sizeBytes
    }
    this.#parts.onStored?.(source.sizeBytes)
  }

  async #store(key: UploadKey, body: UploadBody, sizeBytes: number): Promise<void> {
    const { database, folder, limits } = this.#parts
    const { path, handle } = await folder.createIncoming()
    try {
      await writeArchive(handle, body, sizeBytes)
      await this.#checks.run(() => checkArchive(handle, limits))
      await database.transaction(async (tx) => {
        await lockUpload(tx, key)
        await upsertUpload(tx, key, sizeBytes)
        await folder.accept(path, key)
      })
    } finally {
      await handle.close()
      await rm(path, { force: true })
    }
  }

  async #checkSpace(): Promise<void> {
    const free = await this.#parts.folder.freeBytes()
    if (free - this.#expectedBytes < RESERVE_BYTES) throw diskFull()
  }
}
