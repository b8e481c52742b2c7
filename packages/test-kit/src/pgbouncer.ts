import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Client } from 'pg'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { findPgBouncer } from './pgbouncer-program.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'

export interface PgBouncer extends AsyncDisposable {
  /** The same database through the pool. */
  readonly url: string
}

/** It does not run as root. */
const NOBODY = 65_534
const START_TIMEOUT_MS = 30_000
/** Few, so that the clients of a test share them. */
const SERVER_CONNECTIONS = 4

/** A PgBouncer in front of the server of a database, with the settings of Debian's package where nothing else is said. */
export async function startPgBouncer(databaseUrl: string, mode: 'transaction' | 'session' = 'transaction'): Promise<PgBouncer> {
  const program = await findPgBouncer()
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-pgbouncer-'))
  await chmod(folder, 0o755)
  const port = await findFreePort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(file, configOf(new URL(databaseUrl), { port, mode }))
  const child = spawn(program.path, ['-q', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LD_LIBRARY_PATH: program.libraries.join(delimiter) },
    ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-2000)))
  const ended = once(child, 'exit')
  const kill = (): boolean => child.kill('SIGKILL')
  process.once('exit', kill)
  const end = async (): Promise<void> => {
    process.off('exit', kill)
    kill()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  const url = new URL(databaseUrl)
  url.port = String(port)
  try {
    await pollUntil({ what: 'PgBouncer', timeoutMs: START_TIMEOUT_MS, everyMs: 50 }, async () => {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${output}`)
      return (await answers(url.href)) ? true : undefined
    })
  } catch (err) {
    await end()
    throw err
  }
  return { url: url.href, [Symbol.asyncDispose]: end }
}

/** A migrated, empty database whose `url` leads through a PgBouncer in transaction mode. */
export async function createPooledTestDatabase(): Promise<Required<TestDatabase>> {
  const home = await createTestDatabase()
  const pool = await startPgBouncer(home.url)
  return {
    url: pool.url,
    directUrl: home.url,
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

function configOf({ hostname, port: serverPort, username, password }: URL, { port, mode }: { port: number; mode: string }): string {
  const server = `host=${hostname} port=${serverPort} user=${username} password=${password}`
  return [
    '[databases]',
    `* = ${server}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    `default_pool_size = ${SERVER_CONNECTIONS}`,
    'max_client_conn = 200',
    '',
  ].join('\n')
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
