import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDirectory } from '@sandyard/api/program/data/data-directory'
import { Database } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import type { CliConfig } from './config.ts'
import type { Connection } from './connection.ts'
import { EXIT } from './exit-codes.ts'
import { CliFailure } from './fail.ts'

const CONNECTIONS = 3
/** Of `postmaster.pid`, counted from 0. */
const PORT_LINE = 3

/**
 * The database of DATABASE_DIRECT_URL or DATABASE_URL, else the embedded one of a server that runs with this data directory.
 *
 * @throws CliFailure `notReachable`; its sentence has no password
 */
export async function openDatabase(config: CliConfig, connection: Connection): Promise<Database> {
  const url = (config.directUrl ?? config.databaseUrl)?.reveal() ?? embeddedUrl(connection.directory)
  const database = new Database({ url, applicationName: 'sandyard-cli', log: silentLogger(), maxConnections: CONNECTIONS })
  try {
    await database.ping()
    return database
  } catch (cause) {
    await database[Symbol.asyncDispose]()
    const { code, message } = cause as NodeJS.ErrnoException
    throw new CliFailure(EXIT.notReachable, `The database is not reachable (${message || code || 'no answer'}): is the server running?`, {
      cause,
    })
  }
}

/** The URL of the embedded Postgres of a server that runs with this data directory. @throws CliFailure `notReachable` */
export function embeddedUrl(directory: DataDirectory | undefined): string {
  if (directory === undefined) {
    throw new CliFailure(
      EXIT.notReachable,
      'This command needs the database: set DATABASE_URL, or name the data directory with SANDYARD_DATA_DIR.',
    )
  }
  try {
    const password = readFileSync(directory.postgresPassword, 'utf8').trim()
    const port = readFileSync(join(directory.postgres, 'postmaster.pid'), 'utf8').split('\n')[PORT_LINE]?.trim() ?? ''
    if (!/^\d+$/.test(port)) throw new Error('no port')
    return `postgres://sandyard:${encodeURIComponent(password)}@127.0.0.1:${port}/sandyard`
  } catch (cause) {
    const reason =
      (cause as NodeJS.ErrnoException).code === 'EACCES' ? 'this user may not read its files' : 'the server does not run, or runs elsewhere'
    throw new CliFailure(
      EXIT.notReachable,
      `The embedded database of ${directory.path} cannot be reached (${reason}): start the server, or set DATABASE_URL.`,
      { cause },
    )
  }
}
