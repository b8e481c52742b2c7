import { readMigrations } from '@sandyard/db/migrations'
import { expect, it } from 'vitest'
import { changedTables, purposeOf } from './changed-tables.ts'

it('names the tables that a migration changes, and not those that it makes', async () => {
  const migrations = new Map((await readMigrations()).map(({ name, sql }) => [name, sql]))
  const of = (name: string): string[] => changedTables(migrations.get(name) ?? 'absent')
  expect(of('0001_identity.sql')).toEqual([])
  expect(of('0004_sandbox_server.sql')).toEqual(['sandbox'])
  expect(of('0008_history.sql')).toEqual(['build', 'build_job', 'event', 'layer_upload', 'sandbox', 'template'])
  expect(of('0012_sandbox_events.sql')).toEqual(['event', 'sandbox_history'])
  expect(changedTables('-- alter table a\nupdate b set x = 1; delete from c; drop table if exists d;')).toEqual(['b', 'c', 'd'])
})

it('reads what a migration is for', () => {
  expect(purposeOf('-- One.\n-- Two.\n\ncreate table x ();')).toBe('One. Two.')
  expect(purposeOf('create table x ();')).toBeUndefined()
})
