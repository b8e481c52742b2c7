import { openDatabase } from './unfinished.ts'

/** What the history says of the end of a sandbox; undefined when it has no entry. */
export async function findEnd(databaseUrl: string, sandboxId: string): Promise<string | undefined> {
  await using database = openDatabase(databaseUrl)
  const row = await database.db.selectFrom('sandbox_history').select('reason').where('sandbox_id', '=', sandboxId).executeTakeFirst()
  return row?.reason ?? undefined
}

/** Whether an event tells that the memory of a sandbox was lost. */
export async function hasLostMemory(databaseUrl: string, sandboxId: string): Promise<boolean> {
  await using database = openDatabase(databaseUrl)
  const { db } = database
  const kinds = ['sandbox.memory_lost']
  return (
    (await db.selectFrom('event').select('event_id').where('subject', '=', sandboxId).where('kind', 'in', kinds).executeTakeFirst()) !==
    undefined
  )
}
