import { MAX_TEAM_RECORDINGS } from '@sandyard/dashboard-contract/limits'
import type { Recording } from '@sandyard/dashboard-contract/timeline'
import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'

export interface RecordingKey {
  readonly teamId: string
  readonly sandboxId: string
  readonly recordingId: string
}

/** Those of a sandbox, newest first. It may have ended. */
export async function listRecordings(db: Db, teamId: string, sandboxId: string): Promise<Recording[]> {
  const rows = await db
    .selectFrom('terminal_recording')
    .selectAll()
    .where('sandbox_id', '=', sandboxId)
    .where('team_id', '=', teamId)
    .orderBy('started_at', 'desc')
    .limit(MAX_TEAM_RECORDINGS)
    .execute()
  return rows.map((row) => ({
    recordingId: row.recording_id,
    terminalId: row.terminal_id,
    title: row.title,
    startedAt: row.started_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    bytes: row.bytes,
    isTruncated: row.is_truncated,
    cols: row.cols,
    rows: row.rows,
  }))
}

/** The bytes that are stored now. @throws AppError `not_found` */
export async function getRecordingBytes(db: Db, key: RecordingKey): Promise<number> {
  const row = await ofKey(db, key).select('bytes').executeTakeFirst()
  if (row === undefined) throw notFound()
  return row.bytes
}

const PARTS_AT_ONCE = 8

/**
 * The first `bytes` bytes of a recording, a few parts at a time, so that a slow client holds no connection of the database.
 *
 * @throws AppError `not_found` when the recording is removed meanwhile
 */
export async function* readParts(db: Db, recordingId: string, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes
  for (let number = 0; left > 0;) {
    const parts = await db
      .selectFrom('terminal_recording_part')
      .select(['number', 'content'])
      .where('recording_id', '=', recordingId)
      .where('number', '>=', number)
      .orderBy('number')
      .limit(PARTS_AT_ONCE)
      .execute()
    if (parts.length === 0) throw notFound()
    for (const part of parts) {
      if (left > 0) yield part.content
      left -= part.content.length
      number = part.number + 1
    }
  }
}

/** @throws AppError `not_found` */
export async function deleteRecording(db: Db, { teamId, sandboxId, recordingId }: RecordingKey): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('terminal_recording')
    .where('recording_id', '=', recordingId)
    .where('sandbox_id', '=', sandboxId)
    .where('team_id', '=', teamId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound()
}

function ofKey(db: Db, { teamId, sandboxId, recordingId }: RecordingKey) {
  return db
    .selectFrom('terminal_recording')
    .where('recording_id', '=', recordingId)
    .where('sandbox_id', '=', sandboxId)
    .where('team_id', '=', teamId)
}

function notFound(): AppError {
  return new AppError('not_found', 'There is no such recording')
}
