import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { Client } from 'pg'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { letGroupPass, type DataDirectory } from '@sandyard/api/program/data/data-directory'
import { rotateFile } from '../logging/bounded-log-file.ts'
import { StartFailure } from '@sandyard/api/program/failures/start-failure'
import { endProcess, identifyChild, isStillRunning, type ProcessIdentity } from '../process/process-identity.ts'
import { postgresAccount, runAs } from './account.ts'
import { findPostgresBinaries } from './binaries.ts'
import { ensureCluster, SUPERUSER } from './cluster.ts'
import { endLeftover, STOP_SIGNALS } from './leftover.ts'

export interface EmbeddedPostgresOptions {
  readonly directory: DataDirectory
  /** Zero takes a free one. */
  readonly port: number
  readonly say: (line: string) => void
  /** More settings, as `name=value`. */
  readonly settings?: readonly string[]
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** Superuser, database `sandyard`. The URL contains the password. */
  readonly url: string
  readonly pid: number
  /** Resolves when the server has ended for any reason. */
  readonly ended: Promise<void>
}

const DATABASE = 'sandyard'
const READY_TIMEOUT_MS = 90_000
const LOG_MAX_BYTES = 8 * 1024 * 1024
/** How often a start is repeated, because another process may take the free port first. */
const PORT_TRIES = 5

/**
 * Starts the Postgres of the packages, on files in the data directory, for loopback only. First it ends one that a killed server left
 * behind. The process has its own session, so that Ctrl-C reaches the server only, which stops Postgres last.
 *
 * @throws StartFailure with the reason in one sentence
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { directory, say } = options
  const binaries = await findPostgresBinaries()
  const account = await postgresAccount(directory.postgres)
  if (account !== undefined) letGroupPass(directory, account.gid)
  const leftover = await endLeftover(directory.postgres)
  if (leftover === 'ended') say('ended the Postgres of a server that was killed')
  const password = await ensureCluster({ folder: directory.postgres, passwordFile: directory.postgresPassword, binaries, account })
  rotateFile(directory.postgresLog, LOG_MAX_BYTES)
  for (let tries = 1; ; tries += 1) {
    const port = options.port === 0 ? await findFreePort() : options.port
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'unix_socket_directories=',
      'max_connections=100',
      'log_timezone=UTC',
      ...(options.settings ?? []),
    ]
    const args = ['-D', directory.postgres, ...settings.flatMap((setting) => ['-c', setting])]
    const command = runAs(account, { program: binaries.postgres, args }, [binaries.postgres, directory.postgres])
    const logStart = sizeOf(directory.postgresLog)
    const { identity, ended } = launch(command, directory.postgresLog)
    const url = (database: string): string => `postgres://${SUPERUSER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`
    const failure = await waitUntilReady(url('postgres'), identity)
    if (failure === undefined) {
      await ensureDatabase(url('postgres'))
      const stop = async (): Promise<void> => void (await endProcess(identity, STOP_SIGNALS))
      return { url: url(DATABASE), pid: identity.pid, ended, [Symbol.asyncDispose]: stop }
    }
    await endProcess(identity, STOP_SIGNALS)
    const log = readFileSync(directory.postgresLog, 'utf8').slice(logStart)
    const isLostRace = (options.port === 0 && log.includes('Address already in use')) || log.includes('pre-existing shared memory block')
    if (!isLostRace || tries === PORT_TRIES) throw startFailure({ log, port, directory, failure })
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

interface Launched {
  readonly identity: ProcessIdentity
  readonly ended: Promise<void>
}

function launch(command: { readonly program: string; readonly args: readonly string[] }, logFile: string): Launched {
  const log = openSync(logFile, 'a', 0o600)
  try {
    const child = spawn(command.program, command.args, {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    })
    const ended = new Promise<void>((resolve) => {
      child.once('close', () => resolve())
      child.once('error', () => resolve())
    })
    child.unref()
    if (child.pid === undefined) throw new StartFailure(`Postgres could not be started from ${command.program}.`)
    return { identity: identifyChild(child.pid), ended }
  } finally {
    closeSync(log)
  }
}

/** @returns why it did not become ready, or undefined when it answers queries */
async function waitUntilReady(url: string, identity: ProcessIdentity): Promise<string | undefined> {
  let reason = ''
  const outcome = await pollUntil({ what: 'Postgres', timeoutMs: READY_TIMEOUT_MS, everyMs: 50 }, async () => {
    if (!isStillRunning(identity)) return 'ended'
    reason = await tryQuery(url)
    if (reason === '') return 'ready'
    return /password authentication failed/.test(reason) ? 'refused' : undefined
  }).catch(() => 'late')
  return outcome === 'ready' ? undefined : reason === '' ? outcome : reason
}

async function tryQuery(url: string): Promise<string> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select 1')
    return ''
  } catch (err) {
    return (err as Error).message || 'no answer'
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`create database ${DATABASE}`)
  } finally {
    await client.end()
  }
}

interface FailedStart {
  readonly log: string
  readonly port: number
  readonly directory: DataDirectory
  readonly failure: string
}

function startFailure({ log, port, directory, failure }: FailedStart): StartFailure {
  if (log.includes('Address already in use')) {
    return new StartFailure(
      `The port ${port} for Postgres is taken: end the program that uses it, or choose another with SANDYARD_POSTGRES_PORT.`,
    )
  }
  if (log.includes('No space left on device')) {
    return new StartFailure(`The disk that holds ${directory.path} is full: free some space and run this again.`)
  }
  if (failure.includes('password authentication failed')) {
    return new StartFailure(
      `The password in ${directory.postgresPassword} is not the one of the database: restore the right file, or move ${directory.path} away to start with an empty database.`,
    )
  }
  const line = log.split('\n').findLast((text) => /FATAL|PANIC|could not|error/i.test(text))
  const reason = (line ?? failure).replace(/^.*?(?:FATAL|PANIC|LOG|ERROR):\s*/, '').trim()
  return new StartFailure(`Postgres did not start (${reason}): see ${directory.postgresLog}.`)
}
