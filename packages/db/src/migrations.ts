import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Migration {
  /** The file name, which defines the order. */
  readonly name: string
  readonly sql: string
  readonly sha256: string
  /** The oldest release that can serve with the schema after a breaking migration, from the line `-- oldest release: 1.2.3` of the file. */
  readonly oldestRelease: string | undefined
}

/** The directory of this repository's migrations. */
export const MIGRATIONS_DIR = join(import.meta.dirname, '../../../migrations')

const NAME = /^\d{4}_[a-z0-9_]+\.sql$/
const OLDEST_RELEASE = /^-- oldest release: (\d+\.\d+\.\d+)$/m

/**
 * Reads the `NNNN_words.sql` files in order.
 *
 * @throws Error when a file name does not match the pattern or two files have the same number
 */
export async function readMigrations(directory: string = MIGRATIONS_DIR): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  const numbers = new Set<string>()
  const migrations: Migration[] = []
  for (const name of names) {
    if (!NAME.test(name)) throw new Error(`the migration ${name} is not named NNNN_words.sql`)
    if (numbers.has(name.slice(0, 4))) throw new Error(`two migrations have the number ${name.slice(0, 4)}`)
    numbers.add(name.slice(0, 4))
    const sql = await readFile(join(directory, name), 'utf8')
    const sha256 = createHash('sha256').update(sql).digest('hex')
    migrations.push({ name, sql, sha256, oldestRelease: OLDEST_RELEASE.exec(sql)?.[1] })
  }
  return migrations
}
