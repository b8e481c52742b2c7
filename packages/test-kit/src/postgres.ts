import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { migrate } from '@sandyard/db/migrate'
import { readMigrations } from '@sandyard/db/migrations'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { startPostgresServer } from './postgres-server.ts'

export interface TestDatabase extends AsyncDisposable {
  readonly url: string
  /** Absent when `url` leads to the database itself. */
  readonly directUrl?: string
}

/** Prevents two processes from creating the template database at the same time. */
const TEMPLATE_LOCK_KEY = 5_417_903

const flights = new SingleFlight<'server', string>()
/** The templates that this process has seen, by server. */
const templates = new Map<string, string>()
let serverUrl: string | undefined

/**
 * A migrated, empty database for one test file; disposing drops it. The server is the given one, else that of TEST_DATABASE_URL (which
 * the test run sets), else an embedded server that runs as long as this process.
 */
export async function createTestDatabase(serverUrl?: string): Promise<TestDatabase> {
  const server = serverUrl ?? (await getServerUrl())
  const name = `test_${randomBytes(6).toString('hex')}`
  const template = templates.get(server) ?? (await ensureTemplate(server))
  templates.set(server, template)
  await administer(server, (client) => client.query(`create database ${name} template ${template} strategy file_copy`))
  return {
    url: databaseUrl(server, name),
    [Symbol.asyncDispose]: () => administer(server, (client) => client.query(`drop database if exists ${name} with (force)`)),
  }
}

async function getServerUrl(): Promise<string> {
  serverUrl ??= process.env['TEST_DATABASE_URL']
  serverUrl ??= await flights.run('server', async () => (await startPostgresServer()).url)
  return serverUrl
}

/** The migrated database that test databases are copied from. Its name contains the hashes of the migrations. */
async function ensureTemplate(server: string): Promise<string> {
  const digest = (await readMigrations()).map(({ sha256 }) => sha256.slice(0, 6)).join('')
  const name = `template_${digest.slice(-48)}`
  await administer(server, async (client) => {
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK_KEY])
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1 and datistemplate', [name])
    if (rowCount === 1) return
    await client.query(`drop database if exists ${name} with (force)`)
    await client.query(`create database ${name}`)
    await migrate({ url: databaseUrl(server, name), log: silentLogger() })
    // Only a finished template is marked as one.
    await client.query(`alter database ${name} is_template true`)
  })
  return name
}

async function administer(server: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: server })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
