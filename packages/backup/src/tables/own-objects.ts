import { readMigrations } from '@sandyard/db/migrations'
import { MIGRATION_TABLE } from './catalog.ts'

/** What the migrations of this release make in a schema, by name. Sequences of columns are part of their tables. */
export interface OwnObjects {
  readonly tables: ReadonlySet<string>
  readonly sequences: ReadonlySet<string>
  readonly functions: ReadonlySet<string>
}

const CREATE = /\bcreate\s+(?:or\s+replace\s+)?(table|sequence|function)\s+(?:if\s+not\s+exists\s+)?([a-z0-9_]+)/gi

/** Reads the names in the texts of the migrations. `schema_migration` is made before the first one. */
export async function readOwnObjects(): Promise<OwnObjects> {
  const found = { tables: new Set([MIGRATION_TABLE]), sequences: new Set<string>(), functions: new Set<string>() }
  for (const { sql } of await readMigrations()) {
    const text = sql.replaceAll(/--[^\n]*/g, '').replaceAll(/\$\$.*?\$\$/gs, '')
    for (const [, kind = '', name = ''] of text.matchAll(CREATE)) {
      if (kind.toLowerCase() === 'table') found.tables.add(name)
      else if (kind.toLowerCase() === 'sequence') found.sequences.add(name)
      else found.functions.add(name)
    }
  }
  return found
}
