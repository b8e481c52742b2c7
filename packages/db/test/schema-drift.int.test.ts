import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { tableColumns } from '@sandyard/db/schema/tables'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'

let home: TestDatabase
let database: Database
beforeAll(async () => {
  home = await createTestDatabase()
  database = new Database({ url: home.url, applicationName: 'test', log: silentLogger() })
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

it('has a type for every table and column of the migrations', async () => {
  const { rows } = await sql<{ table_name: string; column_name: string; type: string }>`
    select c.relname as table_name, a.attname as column_name,
           format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then '' else ' null' end as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and c.relname <> 'schema_migration'
  `.execute(database.db)
  const found: Record<string, Record<string, string>> = {}
  for (const { table_name, column_name, type } of rows) (found[table_name] ??= {})[column_name] = type
  expect(found).toEqual(tableColumns)
})
