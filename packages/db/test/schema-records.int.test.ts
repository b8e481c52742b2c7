import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { readMigrations } from '@sandyard/db/migrations'
import { isOlderRelease } from '@sandyard/kit/config/release'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'
import { distinctStatements, type SchemaRecord } from '@sandyard/test-kit/schema-record'
import { findBreaks, type ReviewedRules } from './support/schema-breaks.ts'

const FOLDER = join(import.meta.dirname, '../../../tests/schema')
const REVIEWED_FILE = 'reviewed-rules.json'

const read = <T>(file: string): T => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as T
const records = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json') && file !== REVIEWED_FILE)
  .map((file) => read<SchemaRecord>(file))
const newestOf = (): SchemaRecord => records.reduce((newest, record) => (isOlderRelease(newest.release, record.release) ? record : newest))

let home: TestDatabase
let client: Client
beforeAll(async () => {
  home = await createTestDatabase()
  client = new Client({ connectionString: home.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await home[Symbol.asyncDispose]()
})

it.each(records.map((record) => [record.release, record] as const))(
  'release %s serves beside the newest schema',
  async (release, record) => {
    const oldest = (await readMigrations()).flatMap(({ oldestRelease }) => oldestRelease ?? [])
    // A breaking migration has ended the support of the release, and its servers do not start any more.
    if (oldest.some((least) => isOlderRelease(release, least))) return
    expect(record.statements.length).toBeGreaterThan(100)
    expect(await findBreaks(client, record, read<ReviewedRules>(REVIEWED_FILE))).toEqual([])
  },
)

beforeEach(async () => {
  await client.query('begin')
  return async () => void (await client.query('rollback'))
})

// Each kind of change is made here, because a record that notices nothing would pass too.
it.each([
  ['a dropped column', 'alter table sandbox drop column alias', /column .*alias.* does not exist/],
  ['a renamed column', 'alter table build rename column reason_step to step', 'the column build.reason_step is gone'],
  ['a dropped table', 'drop table template_spawn', 'the table template_spawn is gone'],
  ['another type', 'alter table sandbox alter column end_reason type varchar(40)', 'end_reason is character varying(40), not text'],
  ['a null where none was', 'alter table sandbox alter column is_secure drop not null', 'sandbox.is_secure may be null'],
  ['no null where one was', 'alter table sandbox alter column alias set not null', 'sandbox.alias must not be null'],
  ['a dropped default', 'alter table sandbox alter column metadata drop default', 'sandbox.metadata has no default any more'],
  ['a new column without a default', 'alter table event add column origin text not null', 'the new column event.origin needs a value'],
  ['a new check', "alter table team add check (name <> '')", /a new rule of team may refuse what the release writes: CHECK/],
  ['a new unique index', 'create unique index on api_key (team_id, name)', /a new rule of api_key .*UNIQUE INDEX/],
  [
    'a dropped unique index that an upsert needs',
    'alter table layer_upload drop constraint layer_upload_pkey',
    /no unique or exclusion constraint/,
  ],
])('notices %s', async (_what, change, expected) => {
  await client.query(change)
  const found = await findBreaks(client, newestOf())
  expect(found.join('\n')).toMatch(expected)
})

it.each([
  'alter table sandbox add column region text',
  'alter table sandbox add column priority integer not null default 0',
  'create table region (name text primary key)',
  'create index on sandbox (alias)',
  'alter table sandbox drop constraint sandbox_state_check',
])('allows an expansion: %s', async (change) => {
  await client.query(change)
  expect(await findBreaks(client, newestOf(), read<ReviewedRules>(REVIEWED_FILE))).toEqual([])
})

it('keeps one statement of each shape', () => {
  const statements = [
    'select a from b where c in ($1, $2, $3) limit $4',
    'select a from b where c in ($1) limit $2',
    'insert into b (a, c) values ($1, $2), ($3, $4)',
    'insert into b (a, c) values ($1, $2)',
    'select 1 -- one\n  from b',
  ]
  expect(distinctStatements(statements)).toEqual([
    'insert into b (a, c) values ($1, $2)',
    'select 1 -- one\nfrom b',
    'select a from b where c in ($1) limit $2',
  ])
})
