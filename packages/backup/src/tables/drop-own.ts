import { DatabaseError, type Client } from 'pg'
import { AppError } from '@sandyard/kit/errors/app-error'
import { quote } from './connect.ts'
import type { OwnObjects } from './own-objects.ts'

const DEPENDENT_OBJECTS_STILL_EXIST = '2BP01'

/**
 * Removes the tables, sequences and functions of Sandyard from the schema, in one transaction. Objects of others stay.
 *
 * @throws AppError `failed_precondition` when an object of others depends on one of ours, such as a view; then nothing was removed
 */
export async function dropOwn(client: Client, own: OwnObjects): Promise<void> {
  await client.query('begin')
  try {
    // Before the tables, because their triggers end with them: a newer release may have functions that this one does not know.
    const functions = await listFunctions(client, own)
    const tables = await listRelations(client, ['r', 'p'], own.tables)
    // One statement for all, so that foreign keys among them need no cascade.
    if (tables.length > 0) await client.query(`drop table ${tables.join(', ')}`)
    const sequences = await listRelations(client, ['S'], own.sequences)
    if (sequences.length > 0) await client.query(`drop sequence ${sequences.join(', ')}`)
    if (functions.length > 0) await client.query(`drop function ${functions.join(', ')}`)
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback').catch(() => undefined)
    if (!(cause instanceof DatabaseError) || cause.code !== DEPENDENT_OBJECTS_STILL_EXIST) throw cause
    const detail = cause.detail?.split('\n')[0]
    const reason = detail === undefined ? cause.message : `${cause.message}: ${detail}`
    throw new AppError('failed_precondition', `The database has objects of others that use its tables (${reason}): name another one.`, {
      cause,
    })
  }
}

async function listRelations(client: Client, kinds: readonly string[], names: ReadonlySet<string>): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relkind::text = any($1) and relnamespace = current_schema()::regnamespace and relname = any($2) order by relname`,
    [kinds, [...names]],
  )
  return rows.map(({ name }) => quote(name))
}

/** With their arguments. */
async function listFunctions(client: Client, { tables, functions }: OwnObjects): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regprocedure::text as name from pg_proc
     where prokind = 'f' and pronamespace = current_schema()::regnamespace and (
       proname = any($1)
       or exists (
         select from pg_trigger join pg_class on pg_class.oid = tgrelid
         where tgfoid = pg_proc.oid and relnamespace = current_schema()::regnamespace and relname = any($2)
       )
     )
     and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')`,
    [[...functions], [...tables]],
  )
  return rows.map(({ name }) => name)
}
