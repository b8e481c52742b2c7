import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PROGRAM_SETTINGS } from '@sandyard/api/program/config'
import { describeDataDirectory, openDataDirectory, type DataDirectory } from '@sandyard/api/program/data/data-directory'
import { lockDirectory, type DirectoryLock } from '@sandyard/api/program/data/directory-lock'
import { StartFailure } from '@sandyard/api/program/failures/start-failure'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { embeddedUrl } from '../open-database.ts'
import { startEmbeddedPostgres } from './checkout.ts'

/** What a backup or a restore reads and writes, beside the engine. */
export interface Place extends AsyncDisposable {
  readonly directory: DataDirectory
  readonly databaseUrl: string
}

/**
 * The data directory and the database of an existing server: that of DATABASE_URL, else the embedded one. If no server runs with the data directory,
 * its Postgres runs until the place is disposed.
 *
 * @throws CliFailure without a data directory; StartFailure for a Postgres that does not start
 */
export async function openExisting(parts: CliParts): Promise<Place> {
  const directory = parts.connection.directory ?? describeDataDirectory(defaultFolder(parts))
  if (!existsSync(directory.path)) {
    throw new CliFailure(
      EXIT.notFound,
      `The data directory ${directory.path} does not exist: name that of the server with SANDYARD_DATA_DIR, because its credentials and uploads are part of a backup.`,
    )
  }
  const given = directUrl(parts)
  if (given !== undefined) return { directory, databaseUrl: given, [Symbol.asyncDispose]: async () => undefined }
  if (!existsSync(join(directory.postgres, 'PG_VERSION'))) {
    throw new CliFailure(
      EXIT.notFound,
      `There is no database in ${directory.path}: name the data directory with SANDYARD_DATA_DIR, or set DATABASE_URL.`,
    )
  }
  const lock = lockUnlessServed(directory)
  if (lock === undefined) return { directory, databaseUrl: embeddedUrl(directory), [Symbol.asyncDispose]: async () => undefined }
  return startPostgres(parts, directory, lock)
}

/**
 * The data directory and the database for a restore. Both are made when they are absent.
 *
 * @throws StartFailure while a server runs with the data directory
 */
export async function openTarget(parts: CliParts): Promise<Place> {
  const directory = openDataDirectory(parts.connection.directory?.path ?? defaultFolder(parts))
  const given = directUrl(parts)
  if (given !== undefined) return { directory, databaseUrl: given, [Symbol.asyncDispose]: async () => undefined }
  return startPostgres(parts, directory, lockDirectory(directory.lockFile))
}

/** The folder of the archives of COPY steps. */
export function uploadsFolder({ config: { uploadsDir }, cwd }: Pick<CliParts, 'config' | 'cwd'>, directory: DataDirectory): string {
  return uploadsDir === undefined ? directory.uploads : resolve(cwd, uploadsDir)
}

/** Undefined for the embedded database. */
export function directUrl({ config: { databaseUrl, directUrl } }: Pick<CliParts, 'config'>): string | undefined {
  return (directUrl ?? databaseUrl)?.reveal()
}

function defaultFolder({ cwd }: CliParts): string {
  return resolve(cwd, PROGRAM_SETTINGS.dataDir.fallback ?? '.sandyard')
}

/** Undefined while a server has the lock. */
function lockUnlessServed({ lockFile }: DataDirectory): DirectoryLock | undefined {
  try {
    return lockDirectory(lockFile)
  } catch (err) {
    if (err instanceof StartFailure) return undefined
    throw err
  }
}

async function startPostgres({ output }: CliParts, directory: DataDirectory, lock: DirectoryLock): Promise<Place> {
  try {
    const postgres = await startEmbeddedPostgres({ directory, port: 0, say: (line) => output.say(line) })
    return {
      directory,
      databaseUrl: postgres.url,
      async [Symbol.asyncDispose]() {
        await postgres[Symbol.asyncDispose]()
        lock[Symbol.dispose]()
      },
    }
  } catch (err) {
    lock[Symbol.dispose]()
    throw err
  }
}
