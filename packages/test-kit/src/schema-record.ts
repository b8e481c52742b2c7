import { Client } from 'pg'
import { createTestDatabase } from './postgres.ts'

/** What a release expects of the database. `tests/schema/<release>.json` has one for each release. */
export interface SchemaRecord {
  readonly release: string
  /** The statements that it sends, one of each shape. */
  readonly statements: readonly string[]
  readonly schema: Schema
}

export interface Schema {
  /** The columns by table, with their type. */
  readonly columns: Readonly<Record<string, Readonly<Record<string, Column>>>>
  /** Check, foreign key and exclusion constraints and unique indexes by table: what may refuse a row. */
  readonly rules: Readonly<Record<string, readonly string[]>>
}

interface Column {
  /** As `format_type` prints it. */
  readonly type: string
  readonly isNullable: boolean
  /** An insert need not name it: it may be null, or the database gives it a value. */
  readonly isOptional: boolean
}

/** The tables of the schema `public`, without that of the migrations. */
export async function readSchema(client: Client): Promise<Schema> {
  const { rows: columns } = await client.query<Column & { readonly table: string; readonly name: string }>(`
    select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull as "isNullable",
           not a.attnotnull or a.atthasdef or a.attidentity <> '' as "isOptional"
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and c.relname <> 'schema_migration'
    order by c.relname, a.attname`)
  const { rows: rules } = await client.query<{ readonly table: string; readonly rule: string }>(`
    select conrelid::regclass::text as table, pg_get_constraintdef(oid) as rule from pg_constraint
    where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'x') and conrelid <> 0
    union all
    select i.indrelid::regclass::text, regexp_replace(pg_get_indexdef(i.indexrelid), ' INDEX \\S+ ON', ' INDEX ON') from pg_index i
    join pg_class c on c.oid = i.indrelid where i.indisunique and c.relnamespace = 'public'::regnamespace
    order by 1, 2`)
  const byTable: Record<string, Record<string, Column>> = {}
  for (const { table, name, ...column } of columns) (byTable[table] ??= {})[name] = column
  const rulesByTable: Record<string, string[]> = {}
  for (const { table, rule } of rules) if (table !== 'schema_migration') (rulesByTable[table] ??= []).push(rule)
  return { columns: byTable, rules: rulesByTable }
}

/** The schema of this release, in a database of the given server. */
export async function readReleaseSchema(serverUrl: string): Promise<Schema> {
  await using home = await createTestDatabase(serverUrl)
  const client = new Client({ connectionString: home.url })
  await client.connect()
  try {
    return await readSchema(client)
  } finally {
    await client.end()
  }
}

/** Parameters without their numbers, and lists of any length as one: statements of one shape have the same. */
const PARAMETER = /\$\d+/g
const LIST = /\((?:\$, )*\$\)/g
const LISTS = /\(\$\)(?:, \(\$\))+/g

/** One statement of each shape, the shortest, in a fixed order. */
export function distinctStatements(statements: Iterable<string>): string[] {
  const byShape = new Map<string, string>()
  for (const statement of [...statements].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))) {
    // Lines stay, because a comment ends with its line.
    const words = statement.trim().replaceAll(/\s*\n\s*/g, '\n')
    const shape = words.replaceAll(PARAMETER, '$').replaceAll(LIST, '($)').replaceAll(LISTS, '($)')
    if (!byShape.has(shape)) byShape.set(shape, words)
  }
  return [...byShape.values()].sort()
}
