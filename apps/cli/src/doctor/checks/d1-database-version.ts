import { readMigrations } from '@sandyard/db/migrations'
import { sql } from 'kysely'
import { fail, skipped, warn, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'

/** The schema has unique constraints with NULLS NOT DISTINCT. */
const LEAST_VERSION = 150_000

export const databaseVersion: Check = {
  id: 'D1',
  title: 'Database version',
  checks:
    'Postgres answers, else fails; `server_version_num` below 15 fails; migrations that this release does not know fail; migrations that have not landed warn',
  why: 'All state is in Postgres. An older release must not run on a newer schema.',
  todo: 'Start Postgres or correct DATABASE_URL; use Postgres 15 or newer; start the newest release again, or restore the backup from before the upgrade.',
  async run(facts): Promise<Finding> {
    const answer = await facts.database.answer()
    if (answer.kind === 'absent') return skipped(answer.reason.replace(/\.$/, ''))
    if (answer.kind === 'failed') return fail(`Postgres does not answer: ${answer.reason}`)
    const { rows } = await facts.database.read((db) =>
      sql<{ number: number; text: string }>`
        select current_setting('server_version_num')::int as number, current_setting('server_version') as text`.execute(db),
    )
    const version = rows[0] ?? { number: 0, text: 'unknown' }
    const { unknown, pending } = await compareMigrations(facts)
    return worstOf(
      [
        version.number < LEAST_VERSION ? fail(`Postgres ${version.text} is older than 15`) : undefined,
        unknown.length > 0 ? fail(`the database is of a newer release: it has ${unknown.join(', ')}`) : undefined,
        pending.length > 0 ? warn(`the next start brings the schema up to date: ${pending.join(', ')}`) : undefined,
      ],
      `Postgres ${version.text}, schema up to date`,
    )
  },
}

async function compareMigrations({ database }: Facts): Promise<{ unknown: string[]; pending: string[] }> {
  const known = (await readMigrations()).map(({ name }) => name)
  const landed = await database.read(async (db) => {
    const { rows: tables } = await sql<{ is_there: boolean }>`select to_regclass('schema_migration') is not null as is_there`.execute(db)
    if (tables[0]?.is_there !== true) return []
    const { rows } = await sql<{ name: string }>`select name from schema_migration order by name`.execute(db)
    return rows.map(({ name }) => name)
  })
  return { unknown: landed.filter((name) => !known.includes(name)), pending: known.filter((name) => !landed.includes(name)) }
}
