import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { seedParty } from '../../api/test/support/templates.ts'
import { createBench, type Bench } from './support/bench.ts'

let bench: Bench
beforeAll(async () => {
  // Its loops listen for withdrawn rights.
  bench = await createBench({ loops: true })
  await seedParty(bench.world, 'Other')
})
afterAll(() => bench[Symbol.asyncDispose]())

const DAY_MS = 24 * 3_600_000

interface Key {
  readonly id: string
  readonly name: string
  readonly mask: string
  readonly team: string
  readonly lastUsedAt?: string
}

const list = async (...options: string[]) => JSON.parse((await bench.sandyard(['keys', 'list', '--json', ...options])).stdout) as Key[]
const works = async (apiKey: string) => (await bench.server.call('GET', '/v2/sandboxes', { apiKey })).status

it('creates a key, which is printed once and works, and never shows it again', async () => {
  const { code, stdout, stderr } = await bench.sandyard(['keys', 'create', 'ci main'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^e2b_[0-9a-f]{40}\n$/)
  const key = stdout.trim()
  expect(stderr).not.toContain(key)
  expect(await works(key)).toBe(200)
  const { stdout: table } = await bench.sandyard(['keys', 'list'])
  expect(table).not.toContain(key)
  expect(table).toMatch(new RegExp(`ci main +e2b_${key.slice(4, 6)}\\*+${key.slice(-4)} +acme`))
})

it('creates keys of the team of the current key, or of a named one', async () => {
  const named = await bench.sandyard(['keys', 'create', 'theirs', '--team', 'other', '--json'])
  expect(JSON.parse(named.stdout)).toMatchObject({ name: 'theirs', team: 'other' })
  expect((await list('--team', 'other')).map(({ name }) => name)).toContain('theirs')
  expect((await list('--team', 'acme')).map(({ name }) => name)).not.toContain('theirs')
  const unknown = await bench.sandyard(['keys', 'create', 'x', '--team', 'nobody'])
  expect(unknown).toMatchObject({ code: 3, stdout: '' })
  expect(unknown.stderr).toContain('There is no team "nobody". Teams: acme, other.')
  const several = await bench.sandyard(['keys', 'create', 'x'], { env: { E2B_API_KEY: '' } })
  expect(several.code).toBe(2)
})

it('creates a key that ends by itself and may only read, and lists both', async () => {
  const { stdout } = await bench.sandyard(['keys', 'create', 'limited', '--expires', '90d', '--scope', 'read', '--json'])
  const { key, id, expiresAt, scope } = JSON.parse(stdout) as Key & { key: string; expiresAt: string; scope: string }
  expect(scope).toBe('read')
  expect(Math.round((Date.parse(expiresAt) - Date.now()) / DAY_MS)).toBe(90)
  expect(await works(key)).toBe(200)
  expect((await bench.server.call('POST', '/v2/sandboxes', { apiKey: key, body: { templateID: 'base' } })).status).toBe(403)
  expect((await list()).find((one) => one.id === id)).toMatchObject({ scope: 'read', expiresAt })
  expect((await bench.sandyard(['keys', 'list'])).stdout).toMatch(/limited .* acme +read .* in \d+d/)
  for (const options of [
    ['--expires', '0d'],
    ['--expires', 'soon'],
    ['--expires', '40000d'],
    ['--scope', 'all'],
  ]) {
    expect((await bench.sandyard(['keys', 'create', 'x', ...options])).code).toBe(2)
  }
})

it('lists all keys and teams, however many there are, and revokes the newest', async () => {
  const { db } = bench.world.database
  await sql`
    with teams as (insert into team (name, slug, email) select 'many', 'many-' || n, 'x@y.z' from generate_series(1, 12) as n returning id)
    insert into api_key (team_id, name, hash, prefix, value_length, masked_value_prefix, masked_value_suffix, created_at)
    select id, 'old', gen_random_uuid()::text, 'e2b_', 40, 'aa', 'bbbb', '2020-01-01' from teams, generate_series(1, 900)
  `.execute(db)
  try {
    const { id } = JSON.parse((await bench.sandyard(['keys', 'create', 'newest', '--json'])).stdout) as Key
    const all = await list()
    expect(new Set(all.map((key) => key.id)).size).toBe(all.length)
    expect(all.length).toBeGreaterThan(10_800)
    expect(all.at(-1)).toMatchObject({ id, name: 'newest' })
    expect(await bench.sandyard(['keys', 'revoke', '--yes', id])).toMatchObject({ code: 0 })
    expect((await list('--team', 'many-12')).length).toBe(900)
    expect((await bench.sandyard(['keys', 'list', '--team', 'nobody'])).stderr).toContain('There is no team "nobody". Teams: acme, many-1,')
  } finally {
    await sql`delete from team where slug like 'many-%'`.execute(db)
  }
})

it('finds a key by its raw value, which it reads from stdin', async () => {
  const { id, key } = JSON.parse((await bench.sandyard(['keys', 'create', 'leaked', '--json'])).stdout) as Key & { key: string }
  const found = await bench.sandyard(['keys', 'find'], { input: `${key}\n` })
  expect(found).toMatchObject({ code: 0, stdout: `${id} is "leaked" of the team acme\n` })
  expect(`${found.stdout}${found.stderr}`).not.toContain(key)
  for (const input of ['', 'nonsense\n', `e2b_${'0'.repeat(40)}\n`]) {
    expect(await bench.sandyard(['keys', 'find'], { input })).toMatchObject({ code: 3, stdout: '' })
  }
})

it('renames a key by the beginning of its id', async () => {
  const { id } = JSON.parse((await bench.sandyard(['keys', 'create', 'old', '--json'])).stdout) as Key
  expect((await bench.sandyard(['keys', 'rename', id.slice(0, 13), 'new'])).code).toBe(0)
  expect((await list()).find((key) => key.id === id)?.name).toBe('new')
  expect((await bench.sandyard(['keys', 'rename', '00000000-0000-4000-8000-000000000000', 'x'])).code).toBe(3)
})

it('revokes keys only after a yes, all or none, and servers refuse them at once', async () => {
  const [one, two] = [
    JSON.parse((await bench.sandyard(['keys', 'create', 'one', '--json'])).stdout) as Key & { key: string },
    JSON.parse((await bench.sandyard(['keys', 'create', 'two', '--json'])).stdout) as Key & { key: string },
  ]
  expect(await works(one.key)).toBe(200)
  const refused = await bench.sandyard(['keys', 'revoke', one.id])
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect(refused.stderr).toContain('Revoke "one"')
  expect((await bench.sandyard(['keys', 'revoke', one.id, 'ffffffff', '--yes'])).code).toBe(3)
  expect(await works(one.key)).toBe(200)
  const revoked = await bench.sandyard(['keys', 'revoke', one.id, two.id, '--yes'])
  expect(revoked).toMatchObject({ code: 0, stdout: `${one.id} revoked\n${two.id} revoked\n` })
  await expect.poll(() => works(one.key)).toBe(401)
})

it('lists keys that were not used for some days', async () => {
  const { id } = JSON.parse((await bench.sandyard(['keys', 'create', 'stale', '--json'])).stdout) as Key
  const then = new Date(Date.now() - 91 * DAY_MS)
  await bench.world.database.db.updateTable('api_key').set({ last_used_at: then }).where('id', '=', id).execute()
  expect(await list('--unused', '90d')).toMatchObject([{ id, lastUsedAt: then.toISOString() }])
})

it('ends with 5 when the database is not reachable, without its password', async () => {
  const { code, stderr } = await bench.sandyard(['keys', 'list'], { env: { DATABASE_URL: 'postgres://u:hush@127.0.0.1:1/x' } })
  expect(code).toBe(5)
  expect(stderr).toContain('The database is not reachable')
  expect(stderr).not.toContain('hush')
})
