import { chmodSync, chownSync, mkdirSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { StartFailure } from '../failures/start-failure.ts'

/** The paths in a data directory. */
export interface DataDirectory {
  readonly path: string
  readonly lockFile: string
  readonly credentialsFile: string
  /** Contains the id that labels the objects of this server on an engine. */
  readonly installationFile: string
  readonly serverLog: string
  readonly postgresLog: string
  readonly postgresPassword: string
  readonly postgres: string
  /** The key of secrets, when the server has made it; in a folder that nothing else is in. */
  readonly secretsKey: string
  /** Archives of COPY steps, unless another folder is configured. */
  readonly uploads: string
}

/** With less free space a database start may fail half-way, so the server refuses to start. */
const LEAST_FREE_BYTES = 256 * 1024 * 1024

/**
 * Creates the directory if it is absent, readable by its owner only, and excludes it from version control.
 *
 * @throws StartFailure when the disk is nearly full or the directory belongs to another user
 */
export function openDataDirectory(path: string): DataDirectory {
  const directory = describeDataDirectory(path)
  mkdirSync(directory.path, { recursive: true, mode: 0o700 })
  const { uid } = statSync(directory.path)
  const me = process.getuid?.()
  if (me !== 0 && uid !== me) {
    throw new StartFailure(
      `The data directory ${directory.path} belongs to another user: run this as that user, or choose another directory with SANDYARD_DATA_DIR.`,
    )
  }
  const { bavail, bsize } = statfsSync(directory.path)
  if (bavail * bsize < LEAST_FREE_BYTES) {
    throw new StartFailure(`The disk that holds ${directory.path} is full: free at least 256 MiB and run this again.`)
  }
  writeFileSync(join(directory.path, '.gitignore'), '*\n')
  return directory
}

/** The paths, without a look at the disk. */
export function describeDataDirectory(path: string): DataDirectory {
  const root = resolve(path)
  return {
    path: root,
    lockFile: join(root, 'lock'),
    credentialsFile: join(root, 'credentials'),
    installationFile: join(root, 'installation'),
    serverLog: join(root, 'server.log'),
    postgresLog: join(root, 'postgres.log'),
    postgresPassword: join(root, 'postgres-password'),
    postgres: join(root, 'postgres'),
    secretsKey: join(root, 'secrets', 'key'),
    uploads: join(root, 'uploads'),
  }
}

/** Lets one group traverse the directory without listing it. */
export function letGroupPass(directory: DataDirectory, gid: number): void {
  chownSync(directory.path, -1, gid)
  chmodSync(directory.path, 0o710)
}
