import { sql } from 'kysely'
import { MAX_TEAM_RECORDINGS, MAX_TEAM_RECORDINGS_BYTES } from '@sandyard/dashboard-contract/limits'
import type { Db } from '@sandyard/db/database'

export interface NewRecording {
  readonly recordingId: string
  readonly teamId: string
  readonly sandboxId: string
  readonly terminalId: string
  readonly title: string
  readonly cols: number
  readonly rows: number
  readonly startedAt: Date
  /** The first part. */
  readonly header: Buffer
}

/** Stores a new recording with its header. False when the team has no room for one. */
export async function insertRecording(db: Db, recording: NewRecording): Promise<boolean> {
  const { recordingId, teamId, sandboxId, terminalId, title, cols, rows, startedAt, header } = recording
  const { rows: made } = await sql`
    with held as (select count(*) as recordings, coalesce(sum(bytes), 0) as bytes from terminal_recording where team_id = ${teamId}),
    made as (
      insert into terminal_recording (recording_id, team_id, sandbox_id, terminal_id, title, cols, rows, started_at, seen_at, bytes)
      select ${recordingId}, ${teamId}, ${sandboxId}, ${terminalId}, ${title}, ${cols}, ${rows}, ${startedAt}, clock_timestamp(), ${header.length}
      from held where recordings < ${MAX_TEAM_RECORDINGS} and bytes + ${header.length} <= ${MAX_TEAM_RECORDINGS_BYTES}
      returning recording_id
    )
    insert into terminal_recording_part (recording_id, number, content) select recording_id, 0, ${header} from made returning number
  `.execute(db)
  return made.length > 0
}

export interface RecordingPart {
  readonly recordingId: string
  /** From 1; the header is 0. */
  readonly number: number
  /** Whole lines; empty only says that the recording goes on, or ends. */
  readonly content: Buffer
  readonly isEnd: boolean
  readonly isTruncated: boolean
}

/**
 * Appends to a recording that has not ended. The same part again, after a lost answer, changes nothing. `full`: the team has no room, and the
 * recording has ended. `gone`: it was deleted, or ended by another server that took this one for killed.
 */
export async function appendPart(
  db: Db,
  { recordingId, number, content, isEnd, isTruncated }: RecordingPart,
): Promise<'stored' | 'full' | 'gone'> {
  const { rows } = await sql<{ is_stored: boolean }>`
    with target as (select recording_id, team_id from terminal_recording where recording_id = ${recordingId} and ended_at is null for update),
    held as (select coalesce(sum(bytes), 0) as bytes from terminal_recording where team_id = (select team_id from target)),
    known as (select from terminal_recording_part where recording_id = ${recordingId} and number = ${number}),
    added as (
      insert into terminal_recording_part (recording_id, number, content)
      select recording_id, ${number}, ${content}::bytea from target, held
      where ${content.length}::int > 0 and held.bytes + ${content.length} <= ${MAX_TEAM_RECORDINGS_BYTES} and not exists (select from known)
      on conflict do nothing returning octet_length(content) as bytes
    ),
    outcome as (select ${content.length}::int = 0 or exists(select from added) or exists(select from known) as is_stored)
    update terminal_recording set bytes = terminal_recording.bytes + coalesce((select bytes from added), 0), seen_at = clock_timestamp(),
      is_truncated = ${isTruncated} or not is_stored, ended_at = case when ${isEnd} or not is_stored then clock_timestamp() end
    from target, outcome where terminal_recording.recording_id = target.recording_id
    returning is_stored
  `.execute(db)
  if (rows[0] === undefined) return 'gone'
  return rows[0].is_stored ? 'stored' : 'full'
}
