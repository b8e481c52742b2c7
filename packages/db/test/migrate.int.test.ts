import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, type QueryResult } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { migrate } from '@sandyard/db/migrate'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'

const log = silentLogger()
let home: TestDatabase
let directory: string

beforeAll(async () => {
  home = await createTestDatabase()
})
afterAll(() => home[Symbol.asyncDispose]())

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'migrations-'))
  await query('drop schema public cascade')
  await query('create schema public')
  return () => rm(directory, { recursive: true })
})

async function query(text: string): Promise<QueryResult> {
  const client = new Client({ connectionString: home.url })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

const put = (name: string, text: string): Promise<void> => writeFile(join(directory, name), text)
const run = (): Promise<string[]> => migrate({ url: home.url, directory, log })

it('runs pending migrations once and in order, also with concurrent servers', async () => {
  await put('0001_one.sql', 'create table one (id int)')
  await put('0002_two.sql', 'alter table one add column more text')
  expect((await Promise.all([run(), run(), run()])).flat()).toEqual(['0001_one.sql', '0002_two.sql'])
  await put('0003_three.sql', 'create table three (id int)')
  expect(await run()).toEqual(['0003_three.sql'])
})

it('rolls back a failed migration', async () => {
  await put('0001_one.sql', 'create table one (id int); select no_such_function()')
  await expect(run()).rejects.toThrow('0001_one.sql failed')
  expect((await query("select to_regclass('one') as it")).rows).toEqual([{ it: null }])
})

it.each([
  ['a landed file that was changed', () => put('0001_one.sql', 'select 2'), 'never changed once landed: 0001_one.sql'],
  ['a database that is newer', () => rm(join(directory, '0001_one.sql')), 'from a newer release: it has landed 0001_one.sql'],
  ['a file before a landed one', () => put('0000_zero.sql', 'select 1'), 'after all landed ones: 0000_zero.sql'],
  ['two files of one number', () => put('0001_other.sql', 'select 1'), 'the number 0001'],
  ['a file with another name', () => put('fix.sql', 'select 1'), 'not named NNNN_words.sql'],
])('refuses %s', async (_what, change, message) => {
  await put('0001_one.sql', 'select 1')
  await run()
  await change()
  await expect(run()).rejects.toThrow(message)
})
