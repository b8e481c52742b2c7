import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { findRoom, hasStorageLimit } from '../teams/stored-bytes.ts'
import type { StorageLimits } from '../teams/storage-limits.ts'
import { teamTransaction } from '../teams/team-transaction.ts'
import { volumeNotFound } from './volume-errors.ts'

export interface StoredUploadParts {
  readonly database: Database
  /** Those of the settings. */
  readonly storage: StorageLimits
  readonly log: Pick<Logger, 'warn'>
}

export interface UploadTarget {
  readonly teamId: string
  readonly volumeId: string
  /** Of the body; undefined: the client has not declared it. */
  readonly sizeBytes: number | undefined
}

/** What an upload without a length reserves at a time, or what is left. So one may be refused while others have as much each that they do not use. */
const STEP_BYTES = 8 * 1024 ** 2
/** Longer than an upload may take. For the uploads of servers that die. */
const EXPIRY_SECONDS = 65 * 60

/**
 * The bytes of one upload to a volume, reserved before they are passed on, so that the limit of the team also holds for uploads at once and for those without
 * a length. Disposing gives back what was not stored. A team without a limit reserves nothing.
 */
export class StoredUpload implements AsyncDisposable {
  readonly #parts: StoredUploadParts
  readonly #target: UploadTarget
  readonly #uploadId = randomUUID()
  /** Undefined: no limit. */
  #reserved: number | undefined = 0
  #sent = 0
  #hasRow = false

  private constructor(parts: StoredUploadParts, target: UploadTarget) {
    this.#parts = parts
    this.#target = target
  }

  /** @throws AppError `insufficient_storage`, `not_found` */
  static async begin(parts: StoredUploadParts, target: UploadTarget): Promise<StoredUpload> {
    const upload = new StoredUpload(parts, target)
    const { sizeBytes } = target
    await upload.#reserve(sizeBytes ?? 0, sizeBytes ?? STEP_BYTES)
    return upload
  }

  /** Waits until the next bytes of the body may be passed on. @throws AppError `insufficient_storage`, `not_found` */
  async admit(bytes: number): Promise<void> {
    this.#sent += bytes
    if (this.#reserved === undefined || this.#sent <= this.#reserved) return
    const missing = this.#sent - this.#reserved
    await this.#reserve(missing, Math.max(missing, STEP_BYTES))
  }

  /** Counts the file, which is on the volume. Until the next measurement, one that replaces another counts beside it. */
  async stored(): Promise<void> {
    const { volumeId, sizeBytes = this.#sent } = this.#target
    await this.#parts.database.transaction(async (tx) => {
      if (this.#hasRow) await tx.deleteFrom('volume_upload').where('upload_id', '=', this.#uploadId).execute()
      await tx
        .updateTable('volume')
        .set((eb) => ({ size_bytes: eb('size_bytes', '+', sizeBytes), written_bytes: eb('written_bytes', '+', sizeBytes) }))
        .where('volume_id', '=', volumeId)
        .execute()
    })
    this.#hasRow = false
  }

  /** Never fails: what cannot be given back now expires. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasRow) return
    const { database, log } = this.#parts
    await database.db
      .deleteFrom('volume_upload')
      .where('upload_id', '=', this.#uploadId)
      .execute()
      .catch((err: unknown) => log.warn({ err, volumeId: this.#target.volumeId }, 'bytes reserved for an upload were not given back'))
  }

  async #reserve(leastBytes: number, wantedBytes: number): Promise<void> {
    const { database, storage } = this.#parts
    const { teamId, volumeId } = this.#target
    if (!(await hasStorageLimit(database.db, storage, teamId))) {
      this.#reserved = undefined
      return
    }
    const hadRow = this.#hasRow
    // Before: a commit whose answer is lost has made the row.
    this.#hasRow = true
    const granted = await teamTransaction(database, { teamId }, async (team) => {
      const room = await findRoom(team, storage, leastBytes)
      // The limit was removed meanwhile.
      if (room === undefined) return undefined
      const bytes = Math.min(room, wantedBytes)
      const { numAffectedRows } = await sql`
        insert into volume_upload as upload (upload_id, volume_id, team_id, bytes, expires_at)
        select ${this.#uploadId}, volume_id, team_id, ${bytes}::bigint, clock_timestamp() + make_interval(secs => ${EXPIRY_SECONDS})
        from volume where volume_id = ${volumeId} and team_id = ${teamId}
        on conflict (upload_id) do update set bytes = upload.bytes + excluded.bytes, expires_at = excluded.expires_at
      `.execute(team.tx)
      if (numAffectedRows === 0n) throw volumeNotFound()
      return bytes
    })
    if (granted === undefined) {
      this.#hasRow = hadRow
      this.#reserved = undefined
      return
    }
    this.#reserved = (this.#reserved ?? 0) + granted
  }
}

/** Deletes what dead servers have reserved. */
export async function forgetExpired(db: Db): Promise<void> {
  await sql`delete from volume_upload where expires_at <= clock_timestamp()`.execute(db)
}
