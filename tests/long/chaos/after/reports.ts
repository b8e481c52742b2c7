import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '../../../../packages/db/src/database.ts'
import { openDatabase } from './unfinished.ts'

/** Postgres may be away, or the end of a sandbox may wait for an engine that starts again. */
const REPORT_TIMEOUT_MS = 60_000
const READ_EVERY_MS = 250

/**
 * What the server says of the end of a sandbox: the history, or a row that is ending. Reads again until there is a report.
 *
 * @returns undefined when there is none at the deadline
 */
export function findEnd(databaseUrl: string, sandboxId: string, timeoutMs: number = REPORT_TIMEOUT_MS): Promise<string | undefined> {
  return readUntil(databaseUrl, timeoutMs, (db) => readEnd(db, sandboxId))
}

/** Whether an event tells that the memory of a sandbox was lost. Reads again until it does, or until the deadline. */
export async function hasLostMemory(databaseUrl: string, sandboxId: string, timeoutMs: number = REPORT_TIMEOUT_MS): Promise<boolean> {
  const query = (db: Db) =>
    db.selectFrom('event').select('event_id').where('subject', '=', sandboxId).where('kind', '=', 'sandbox.memory_lost')
  return (await readUntil(databaseUrl, timeoutMs, (db) => query(db).executeTakeFirst())) !== undefined
}

async function readEnd(db: Db, sandboxId: string): Promise<string | undefined> {
  // In this order: the end moves the row to the history.
  const row = await db
    .selectFrom('sandbox')
    .select('end_reason')
    .where('sandbox_id', '=', sandboxId)
    .where('state', '=', 'killing')
    .executeTakeFirst()
  const ended = await db.selectFrom('sandbox_history').select('reason').where('sandbox_id', '=', sandboxId).executeTakeFirst()
  return ended?.reason ?? row?.end_reason ?? undefined
}

/** @throws the error of the last read at the deadline */
async function readUntil<T>(databaseUrl: string, timeoutMs: number, read: (db: Db) => Promise<T | undefined>): Promise<T | undefined> {
  await using database = openDatabase(databaseUrl)
  const deadline = performance.now() + timeoutMs
  while (true) {
    const isLast = performance.now() >= deadline
    const found = await read(database.db).catch((err: unknown) => {
      if (isLast) throw err
    })
    if (found !== undefined || isLast) return found ?? undefined
    await delay(READ_EVERY_MS)
  }
}
