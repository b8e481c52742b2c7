import { planMigrations, type LandedMigration } from '@sandyard/db/migration-plan'
import { readMigrations } from '@sandyard/db/migrations'
import { RELEASE } from '@sandyard/kit/config/release'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { sql } from 'kysely'
import { fail, skipped, warn, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'
import { Unreadable } from '../facts/unreadable.ts'

/** The schema has unique constraints with NULLS NOT DISTINCT. */
const LEAST_VERSION = 150_000

export const databaseVersion: Check = {
  id: 'D1',
  title: 'Database version',
  checks:
    'Postgres answers, else fails; `server_version_num` below 15 fails; a schema that this release refuses fails; migrations of a newer release with which this one serves, ' +
    'and migrations that have not landed, warn',
  why: 'All state is in Postgres, and a release does not start with a schema that it does not understand.',
  todo: 'Start Postgres or correct DATABASE_URL; use Postgres 15 or newer; start the newest release, or restore the backup from before the upgrade.',
  async run(facts): Promise<Finding> {
    const answer = await facts.database.answer()
    if (answer.kind === 'absent') return skipped(answer.reason.replace(/\.$/, ''))
    if (answer.kind === 'failed') return fail(`Postgres does not answer: ${answer.reason}`)
    const { rows } = await facts.database.read((db) =>
      sql<{ number: number; text: string }>`
        select current_setting('server_version_num')::int as number, current_setting('server_version') as text`.execute(db),
    )
    const version = rows[0] ?? { number: 0, text: 'unknown' }
    return worstOf(
      [version.number < LEAST_VERSION ? fail(`Postgres ${version.text} is older than 15`) : undefined, await checkSchema(facts)],
      `Postgres ${version.text}, schema up to date`,
    )
  },
}

async function checkSchema(facts: Facts): Promise<Finding | undefined> {
  const migrations = await readMigrations().catch((err: Error) => {
    throw new Unreadable(`this program has no migrations to compare with: ${err.message}`, { cause: err })
  })
  try {
    const { pending, newer } = planMigrations({ migrations, landed: await readLanded(facts), release: RELEASE })
    if (newer.length > 0) return warn(`the schema is of a newer release, with which ${RELEASE} serves: ${newer.join(', ')}`)
    if (pending.length === 0) return undefined
    return warn(`the next start brings the schema up to date: ${pending.map(({ name }) => name).join(', ')}`)
  } catch (err) {
    if (isAppError(err, 'failed_precondition')) return fail(err.message.replace(/\.$/, ''))
    throw err
  }
}

/** Empty for a database that no server has used. The table is older than its column `oldest_release`. */
async function readLanded({ database }: Facts): Promise<LandedMigration[]> {
  return database.read(async (db) => {
    const { rows: tables } = await sql<{ is_there: boolean }>`select to_regclass('schema_migration') is not null as is_there`.execute(db)
    if (tables[0]?.is_there !== true) return []
    const { rows } = await sql<{ name: string; sha256: string; oldest_release?: string | null }>`select * from schema_migration`.execute(db)
    return rows.map(({ name, sha256, oldest_release: oldestRelease = null }) => ({ name, sha256, oldestRelease }))
  })
}
