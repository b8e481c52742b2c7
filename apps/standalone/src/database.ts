import { Database } from '@sandyard/db/database'
import { migrate } from '@sandyard/db/migrate'
import { checkGivenDatabase } from './postgres/given-database.ts'
import { startEmbeddedPostgres } from './postgres/embedded-postgres.ts'
import { StartFailure } from './failures/start-failure.ts'
import type { StartParts } from './start-all.ts'

export interface OpenDatabase {
  readonly database: Database
  /** Rejects when the embedded Postgres ends by itself; never for a given one. */
  readonly failed: Promise<never>
}

const MAX_CONNECTIONS = 20

/** The given or the embedded database, at this release's schema. */
export async function openDatabase(parts: StartParts): Promise<OpenDatabase> {
  const { log, shutdown, terminal } = parts
  const { url, failed } = await findServer(parts)
  // A database that ends while the start goes on is reported by the step that needs it.
  failed.catch(() => undefined)
  const landed = await migrate({ url, log })
  if (landed.length > 0) terminal.step(`database: schema brought up to date (${landed.length} migrations)`)
  const database = new Database({ url, applicationName: 'sandyard', log, maxConnections: MAX_CONNECTIONS })
  shutdown.add('database', () => database[Symbol.asyncDispose]())
  return { database, failed }
}

async function findServer({ config, directory, shutdown, terminal }: StartParts): Promise<{ url: string; failed: Promise<never> }> {
  const given = config.databaseUrl?.reveal()
  if (given !== undefined) {
    await checkGivenDatabase(given)
    terminal.step('database: the one of DATABASE_URL')
    return { url: given, failed: new Promise(() => undefined) }
  }
  const postgres = await startEmbeddedPostgres({ directory, port: config.postgresPort, say: (line) => terminal.step(line) })
  let isStopping = false
  shutdown.add('postgres', async () => {
    isStopping = true
    await postgres[Symbol.asyncDispose]()
  })
  terminal.step(`database: embedded Postgres in ${directory.postgres}`)
  const failed = postgres.ended.then(() =>
    isStopping
      ? new Promise<never>(() => undefined)
      : Promise.reject(new StartFailure(`Postgres has ended by itself: see ${directory.postgresLog}.`)),
  )
  return { url: postgres.url, failed }
}
