import type { Client } from 'pg'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { SequenceState } from '../manifest.ts'
import { quote } from './connect.ts'

export interface Table {
  readonly name: string
  /** Without generated ones, which cannot be written. */
  readonly columns: readonly string[]
  /** The tables that its foreign keys refer to, without itself. */
  readonly refersTo: readonly string[]
}

export interface LandedMigration {
  readonly name: string
  readonly sha256: string
}

export const MIGRATION_TABLE = 'schema_migration'
/** Tables that a backup leaves out: the leases of running servers and the warm pool. The servers that start after a restore fill them again. */
const EPHEMERAL: ReadonlySet<string> = new Set(['server', 'parked_sandbox', 'pool_demand', MIGRATION_TABLE])

/** All tables of the schema, each after those that it refers to. @throws Error for foreign keys in a circle */
export async function listTables(client: Client): Promise<Table[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; refers_to: string[] }>(`
    select relname::text as name,
      array(
        select attname::text from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum
      ) as columns,
      array(
        select distinct target.relname::text from pg_constraint join pg_class as target on target.oid = confrelid
        where contype = 'f' and conrelid = pg_class.oid and confrelid <> conrelid
      ) as refers_to
    from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace order by relname`)
  return inOrder(rows.map(({ name, columns, refers_to: refersTo }) => ({ name, columns, refersTo })))
}

/** The tables whose rows a backup has. */
export function isBackedUp({ name }: Table): boolean {
  return !EPHEMERAL.has(name)
}

function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = []
  const done = new Set<string>()
  while (ordered.length < tables.length) {
    const ready = tables.filter(({ name, refersTo }) => !done.has(name) && refersTo.every((target) => done.has(target)))
    if (ready.length === 0) throw new Error('the foreign keys of the tables form a circle')
    for (const table of ready) done.add(table.name)
    ordered.push(...ready)
  }
  return ordered
}

export async function tableExists(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>('select to_regclass($1) is not null as is_there', [name])
  return rows[0]?.is_there === true
}

/** @throws AppError `failed_precondition` for a database that no server has migrated */
export async function readMigrationsOf(client: Client): Promise<LandedMigration[]> {
  if (!(await tableExists(client, MIGRATION_TABLE)))
    throw new AppError('failed_precondition', 'The database has no tables of Sandyard: no server has started with it yet.')
  const { rows } = await client.query<LandedMigration>(`select name, sha256 from ${MIGRATION_TABLE} order by name`)
  return rows
}

/** Sequences are not part of transactions: what is read now is not behind the rows of a transaction that began before. */
export async function readSequences(client: Client): Promise<SequenceState[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class where relkind = 'S' and relnamespace = current_schema()::regnamespace order by relname`,
  )
  const states: SequenceState[] = []
  for (const { name } of rows) {
    const read = await client.query<{ value: string; is_called: boolean }>(
      `select last_value::text as value, is_called from ${quote(name)}`,
    )
    const [state] = read.rows
    if (state !== undefined) states.push({ name, value: state.value, isCalled: state.is_called })
  }
  return states
}
