import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Database, Db, Tx } from '@sandyard/db/database'
import type { ArchiveLimits } from '@sandyard/kit/archive/entry-rules'
import { AppError } from '@sandyard/kit/errors/app-error'
import { checkStored, hasStorageLimit } from '../teams/stored-bytes.ts'
import type { StorageLimits } from '../teams/storage-limits.ts'
import { teamTransaction } from '../teams/team-transaction.ts'
import { ArchiveChecks, writeArchive } from './receive-archive.ts'
import { FairQueue } from '@sandyard/kit/async/fair-queue'
import { UploadBody } from './upload-body.ts'
import { UPLOAD_BOUNDS, type UploadBounds } from './upload-bounds.ts'
import type { UploadFolder } from './upload-folder.ts'
import type { UploadKey } from './upload-link.ts'
import { findUploadSize, lockUpload, touchUpload, upsertUpload } from './upload-queries.ts'
import { UploadSpace } from './upload-space.ts'

export interface UploadParts {
  readonly database: Database
  readonly folder: UploadFolder
  readonly limits: ArchiveLimits
  /** What a team may store; the row of a team may have another limit. Default: no limit. */
  readonly storage?: StorageLimits
  readonly bounds?: UploadBounds
  readonly onStored?: (sizeBytes: number) => void
}

export interface ArchiveSource {
  readonly body: Readable
  /** The size that the client declared. */
  readonly sizeBytes: number
}

/**
 * The archives of COPY steps. An accepted archive survives a crash; an unfinished upload leaves a file that upkeep removes. The last upload
 * of a key replaces earlier ones.
 */
export class UploadStore implements AsyncDisposable {
  readonly #parts: UploadParts
  readonly #space: UploadSpace
  readonly #bounds: UploadBounds
  readonly #arrivals: FairQueue
  readonly #checks = new ArchiveChecks()

  constructor(parts: UploadParts) {
    this.#parts = parts
    this.#space = new UploadSpace(() => parts.folder.freeBytes())
    this.#bounds = parts.bounds ?? UPLOAD_BOUNDS
    this.#arrivals = new FairQueue({ perOwner: this.#bounds.atOnce, waitingPerOwner: this.#bounds.waiting, onFull: tooManyUploads })
  }

  /** @throws AppError `resource_exhausted` when `take` would refuse this team now */
  assertRoom(teamId: string): void {
    this.#arrivals.assertRoom(teamId)
  }

  /** Whether the archive exists. If so, its last use is set to now, so that upkeep keeps it for the build that will use it. */
  async has(key: UploadKey): Promise<boolean> {
    const { database, folder } = this.#parts
    return (await touchUpload(database.db, key)) && (await folder.exists(key))
  }

  /** A stream of the archive, which the caller must read to its end or destroy. Undefined when the archive does not exist. */
  async open(teamId: string, hash: string): Promise<Readable | undefined> {
    const key = { teamId, hash }
    const { database, folder } = this.#parts
    if (!(await touchUpload(database.db, key))) return undefined
    return (await folder.open(key))?.createReadStream()
  }

  /**
   * Receives, checks and stores an archive. Uploads of a team above its cap wait, unread.
   *
   * @throws AppError `invalid_argument` with the reason, `insufficient_storage`, `deadline_exceeded`, `resource_exhausted`
   */
  async take(key: UploadKey, { body: readable, sizeBytes }: ArchiveSource): Promise<void> {
    using body = new UploadBody(readable)
    await this.#arrivals.run(key.teamId, async () => {
      try {
        await this.#checkStored(this.#parts.database.db, key, sizeBytes)
        await this.#space.check(sizeBytes)
        await this.#store(key, body, sizeBytes)
      } catch (err) {
        await body.drain()
        throw err
      }
    })
    this.#parts.onStored?.(sizeBytes)
  }

  async #store(key: UploadKey, body: UploadBody, sizeBytes: number): Promise<void> {
    const { folder, limits } = this.#parts
    const { path, handle } = await folder.createIncoming()
    try {
      // The file is closed before its check: uploads that wait for a check hold no descriptors.
      await writeArchive(handle, this.#space.guard(body.chunks()), sizeBytes)
      await this.#checks.check({ path, limits }, { teamId: key.teamId, timeoutMs: this.#bounds.checkMs })
      await this.#transaction(key, async (tx) => {
        await lockUpload(tx, key)
        await this.#checkStored(tx, key, sizeBytes)
        await upsertUpload(tx, key, sizeBytes)
        await folder.accept(path, key)
      })
    } finally {
      await rm(path, { force: true })
    }
  }

  /** The archive is complete: neither the team's other requests nor a client that has gone make it useless. */
  async #transaction({ teamId }: UploadKey, work: (tx: Tx) => Promise<void>): Promise<void> {
    const { database } = this.#parts
    if (!(await hasStorageLimit(database.db, this.#storage, teamId))) return database.transaction(work)
    return teamTransaction(database, { teamId, isUrgent: true }, ({ tx }) => work(tx))
  }

  /** Other uploads may come between the check before the body and that in the transaction. */
  async #checkStored(db: Db, key: UploadKey, sizeBytes: number): Promise<void> {
    const replacedBytes = (await findUploadSize(db, key)) ?? 0
    await checkStored(db, this.#storage, { teamId: key.teamId, sizeBytes, replacedBytes })
  }

  get #storage(): StorageLimits {
    return this.#parts.storage ?? { maxStoredBytes: undefined }
  }

  /** Ends the running checks. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#checks[Symbol.asyncDispose]()
  }
}

function tooManyUploads(_cap: 'owner' | 'all', count: number): AppError {
  return new AppError('resource_exhausted', `The team has ${count} uploads under way: wait for some of them`, {
    headers: { 'retry-after': '30' },
  })
}
