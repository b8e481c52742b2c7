import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../../../..')
const OWN = 'apps/api/src/teams/team-transaction.ts'

/** A statement that locks rows of the table `team`, by the builder of queries or as text. */
const LOCKS = [
  /\b(?:selectFrom|\w+Join)\(\s*'team(?: as \w+)?'(?:(?!\n\n|\n\})[^])*?\.for(?:NoKey)?Update\(/,
  // Not of a subselect.
  /\b(?:from|join) team\b[^)]*?\bfor (?:no key )?update\b/,
]
/** A statement that changes rows of it, which locks them too. */
const CHANGES = /\b(?:updateTable|deleteFrom)\('team'\)|\b(?:update|delete from) team\b/

const isLock = (text: string): boolean => LOCKS.some((lock) => lock.test(text))

const SOURCES = globSync('{apps,packages}/*/src/**/*.ts', { cwd: ROOT })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

it('is the only way to lock a team', () => {
  expect(SOURCES.filter(({ text }) => isLock(text)).map(({ path }) => path)).toEqual([OWN])
})

it('comes before every change of a team', () => {
  const changes = SOURCES.filter(({ text }) => CHANGES.test(text))
  expect(changes.length).toBeGreaterThan(0)
  expect(changes.filter(({ text }) => !/\b(?:teamTransaction|LockedTeam)\b/.test(text)).map(({ path }) => path)).toEqual([])
})

it.each([
  "await tx.selectFrom('team').select('id').where('id', '=', id).forUpdate().execute()",
  "const teams = tx\n    .selectFrom('team')\n    .select('id')\n  return teams.forNoKeyUpdate().execute()",
  "db.selectFrom('team_member').innerJoin('team', 'team.id', 'team_member.team_id').forNoKeyUpdate('team')",
  'select id from team where id = 1 for update',
  'select id from team\n  where id = 1\n  for no key update of team',
])('would notice the lock in %j', (text) => {
  expect(isLock(text)).toBe(true)
})

it.each(["tx.updateTable('team').set({ name })", 'update team set name = null', "tx.deleteFrom('team')"])(
  'would notice the change in %j',
  (text) => {
    expect(CHANGES.test(text)).toBe(true)
  },
)
