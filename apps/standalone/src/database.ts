import { startStopwatch } from '@sandyard/kit/async/timed-step'
import { Database } from '@sandyard/db/database'
import { migrate } from '@sandyard/db/migrate'
import { checkGivenDatabase } from '@sandyard/api/program/given-database'
import { startEmbeddedPostgres } from './postgres/embedded-postgres.ts'
import { StartFailure } from '@sandyard/api/program/failures/start-failure'
import type { StartParts } from './start-all.ts'

export interface OpenDatabase {
  /** The connections of the control plane; the proxy process has its own. */
  readonly database: Database
  /** Rejects when the embedded Postgres ends by itself; never for a given database. */
  readonly failed: Promise<never>
}

/** The given or the embedded database, migrated to the schema of this release. */
export async function openDatabase(parts: StartParts): Promise<OpenDatabase> {
  const { log, shutdown, progress } = parts
  const took = startStopwatch()
  const { url, failed } = await findServer(parts)
  // If the database ends during the start, the step that needs it reports it.
  failed.catch(() => undefined)
  const landed = await migrate({ url, log })
  if (landed.length > 0) progress.step(`database: schema brought up to date (${landed.length} migrations), ${took()}`)
  const database = new Database({ url, applicationName: 'sandyard', log, maxConnections: parts.config.maxConnections })
  shutdown.add('database', () => database[Symbol.asyncDispose]())
  return { database, failed }
}

async function findServer({ config, directory, shutdown, progress }: StartParts): Promise<{ url: string; failed: Promise<never> }> {
  const took = startStopwatch()
  const given = config.databaseUrl?.reveal()
  if (given !== undefined) {
    await checkGivenDatabase(given)
    progress.step(`database: the one of DATABASE_URL, ${took()}`)
    return { url: given, failed: new Promise(() => undefined) }
  }
  const postgres = await startEmbeddedPostgres({ directory, port: config.postgresPort, say: (line) => progress.step(line) })
  let isStopping = false
  shutdown.add('postgres', async () => {
    isStopping = true
    await postgres[Symbol.asyncDispose]()
  })
  progress.step(`database: embedded Postgres in ${directory.postgres}, ${took()}`)
  const failed = postgres.ended.then(() =>
    isStopping
      ? new Promise<never>(() => undefined)
      : Promise.reject(new StartFailure(`Postgres has ended by itself: see ${directory.postgresLog}.`)),
  )
  return { url: postgres.url, failed }
}
