import { startStopwatch } from '@sandyard/kit/async/timed-step'
import { Database, type DatabaseUrls } from '@sandyard/db/database'
import { databaseUrls } from '@sandyard/db/database-settings'
import { endLeases } from '@sandyard/db/server-lease'
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
  const { config, log, shutdown, progress } = parts
  const took = startStopwatch()
  const { urls, failed } = await findServer(parts)
  // If the database ends during the start, the step that needs it reports it.
  failed.catch(() => undefined)
  const { landed, newer } = await migrate({ url: urls.directUrl, log, bounds: config })
  if (landed.length > 0) progress.step(`database: schema brought up to date (${landed.length} migrations), ${took()}`)
  if (newer.length > 0) progress.step('database: its schema is of a newer release, which this one can serve with')
  const database = new Database({ ...urls, applicationName: 'sandyard', log, maxConnections: config.maxConnections })
  shutdown.add('database', () => database[Symbol.asyncDispose]())
  // No other server uses the embedded Postgres, as the lock of the data directory says: what a killed one has left in flight is repaired at once.
  if (config.databaseUrl === undefined) await endLeases(database.db)
  return { database, failed }
}

interface FoundServer {
  readonly urls: DatabaseUrls
  readonly failed: Promise<never>
}

async function findServer({ config, directory, shutdown, progress }: StartParts): Promise<FoundServer> {
  const took = startStopwatch()
  const { databaseUrl, directUrl } = config
  if (databaseUrl !== undefined) {
    const urls = databaseUrls({ databaseUrl, directUrl })
    await checkGivenDatabase(urls)
    progress.step(`database: the one of DATABASE_URL, ${took()}`)
    return { urls, failed: new Promise(() => undefined) }
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
  return { urls: { url: postgres.url, directUrl: postgres.url }, failed }
}
