import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { Secret } from '@sandyard/kit/config/secret'
import { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'
import { SandboxRows } from '@sandyard/test-kit/sandbox-rows'
import { find, NOWHERE, type FindOptions, saying } from './support/find.ts'
import { ProcRoot } from './support/proc-root.ts'

let test: TestDatabase
let client: Client

beforeAll(async () => {
  test = await createTestDatabase()
  client = new Client({ connectionString: test.url })
  await client.connect()
  // The test server runs without fsync, so a schema in front of Postgres' own says what this test wants to be found.
  await client.query(`create schema front`)
  await client.query(`alter database "${new URL(test.url).pathname.slice(1)}" set search_path = front, pg_catalog, public`)
})

beforeEach(async () => {
  await client.query('drop schema front cascade; create schema front')
  await setSettings({})
})

afterAll(async () => {
  await client.end()
  await test[Symbol.asyncDispose]()
})

/** What `pg_settings` says in this database. */
async function setSettings(changes: Readonly<Record<string, string>>): Promise<void> {
  const all = { fsync: 'on', autovacuum: 'on', max_connections: '500', superuser_reserved_connections: '3', ...changes }
  const rows = Object.entries(all).map(([name, setting]) => `('${name}', '${setting}')`)
  await client.query(`create or replace view front.pg_settings (name, setting) as values ${rows.join(', ')}`)
}

function look(id: string, options: FindOptions = {}): ReturnType<typeof find> {
  return find(id, { ...options, environment: { DATABASE_URL: test.url, ...options.environment } })
}

describe('D1', () => {
  it('is ok for a migrated database', async () => {
    expect(await look('D1')).toMatchObject({ level: 'ok', found: saying('schema up to date') })
  })

  it('fails when Postgres does not answer, without its password', async () => {
    const url = new URL(test.url)
    url.port = '9'
    const { level, found } = await look('D1', { environment: { DATABASE_URL: url.href } })
    expect(level).toBe('fail')
    expect(found).not.toContain(url.href)
    expect(await look('D2', { environment: { DATABASE_URL: url.href } })).toMatchObject({ level: 'skipped' })
  })

  it('is skipped without a database, and says where it has looked', async () => {
    expect(await find('D1')).toMatchObject({ level: 'skipped', found: saying('/nonexistent') })
    expect(await find('R2')).toMatchObject({ level: 'skipped', found: saying('D1') })
  })

  it('warns for a newer schema with which this release serves, and fails for one that it refuses', async () => {
    await client.query(`insert into schema_migration (name, sha256) values ('9999_later.sql', 'x')`)
    expect(await look('D1')).toMatchObject({ level: 'warn', found: saying('9999_later.sql') })
    // Databases of the first releases do not have the column.
    await client.query('alter table public.schema_migration add column if not exists oldest_release text')
    await client.query(`update schema_migration set oldest_release = '99.0.0' where name = '9999_later.sql'`)
    expect(await look('D1')).toMatchObject({ level: 'fail', found: saying(/9999_later\.sql.*needs release 99\.0\.0/) })
    await client.query(`delete from schema_migration where name = '9999_later.sql'`)
  })

  it('warns for a migration that has not landed, and fails for one that was changed', async () => {
    const { rows } = await client.query<{ name: string }>('select name from schema_migration order by name desc limit 1')
    const name = rows[0]?.name ?? ''
    await client.query(`create table public.kept as select * from schema_migration where name = $1`, [name])
    await client.query('delete from schema_migration where name = $1', [name])
    expect(await look('D1')).toMatchObject({ level: 'warn', found: saying(name) })
    await client.query('insert into schema_migration select * from public.kept')
    await client.query(`update schema_migration set sha256 = 'another' where name = $1`, [name])
    expect(await look('D1')).toMatchObject({ level: 'fail', found: saying(name) })
    await client.query('update schema_migration set sha256 = kept.sha256 from public.kept where kept.name = schema_migration.name')
  })

  it('fails for an old Postgres', async () => {
    await client.query(`create function front.current_setting(text) returns text language sql as
      $$ select case $1 when 'server_version_num' then '140012' else '14.12' end $$`)
    expect(await look('D1')).toMatchObject({ level: 'fail', found: saying('14.12') })
  })
})

describe('DATABASE_DIRECT_URL', () => {
  it('is asked instead of a pool in front', async () => {
    const environment = { DATABASE_URL: 'postgres://127.0.0.1:9/pool', DATABASE_DIRECT_URL: test.url }
    expect(await find('D1', { environment })).toMatchObject({ level: 'ok' })
  })
})

describe('D2', () => {
  it('is ok with fsync, autovacuum and enough connections', async () => {
    expect(await look('D2')).toMatchObject({ level: 'ok' })
  })

  it.each([
    ['fail', { fsync: 'off' }, /fsync is off/],
    ['warn', { autovacuum: 'off' }, /autovacuum is off/],
    ['warn', { max_connections: '20' }, /33 connections are needed/],
  ] as const)('%s for %o', async (level, settings, found) => {
    await setSettings(settings)
    expect(await look('D2')).toMatchObject({ level, found: saying(found) })
  })

  it('warns when a busy table is not vacuumed', async () => {
    await client.query('alter table public.sandbox_log set (autovacuum_enabled = false)')
    expect(await look('D2')).toMatchObject({ level: 'warn', found: saying('sandbox_log') })
    await client.query('alter table public.sandbox_log reset (autovacuum_enabled)')
  })

  it('counts the pools of every live server', async () => {
    await insertServer(1, '20 seconds')
    await insertServer(2, '20 seconds')
    await insertServer(3, '-20 seconds')
    await setSettings({ max_connections: '40' })
    expect(await look('D2')).toMatchObject({ level: 'warn', found: saying('66 connections are needed') })
    await client.query('delete from public.server')
  })
})

describe('M2', () => {
  it('is ok when the clock of Postgres agrees, and warns when it does not', async () => {
    const machine = { run: () => Promise.resolve('yes\n') }
    expect(await look('M2', { machine })).toMatchObject({ level: 'ok' })
    await client.query(
      `create function front.now() returns timestamptz language sql as $$ select pg_catalog.now() - interval '90 seconds' $$`,
    )
    expect(await look('M2', { machine })).toMatchObject({
      level: 'warn',
      found: saying(/clock of Postgres is (89|90)\.\d s behind/),
    })
  })

  it('warns when NTP does not synchronise this machine', async () => {
    const asked: string[][] = []
    const machine = {
      run: (program: string, args: readonly string[]) => {
        asked.push([program, ...args])
        return Promise.resolve('no\n')
      },
    }
    expect(await look('M2', { machine })).toMatchObject({ level: 'warn', commands: ['timedatectl set-ntp true'] })
    expect(asked).toEqual([['timedatectl', 'show', '--property=NTPSynchronized', '--value']])
  })
})

describe('D4', () => {
  const token = randomBytes(20).toString('hex')

  it('is ok with a long token that no process shows', async () => {
    using root = new ProcRoot()
    root.addProcess(12, ['node', 'server.js'])
    expect(await look('D4', { root: root.path, environment: { SANDYARD_ADMIN_TOKEN: token } })).toMatchObject({ level: 'ok' })
  })

  it('says in a container that it did not look at other processes', async () => {
    using root = new ProcRoot({ '.dockerenv': '' })
    expect(await look('D4', { root: root.path })).toMatchObject({ level: 'skipped', found: saying('outside of this container') })
  })

  it('fails for a short token', async () => {
    using root = new ProcRoot()
    const environment = { SANDYARD_ADMIN_TOKEN: 'x'.repeat(31) }
    expect(await look('D4', { root: root.path, environment })).toMatchObject({
      level: 'fail',
      found: saying('31 bytes'),
    })
  })

  it('fails for secrets among arguments, and does not repeat them', async () => {
    using root = new ProcRoot()
    root.addProcess(13, ['curl', '-H', `X-Admin-Token: ${token}`])
    root.addProcess(14, ['tool', '--key=e2b_0123456789abcdef'])
    const { level, found } = await look('D4', {
      root: root.path,
      environment: { SANDYARD_ADMIN_TOKEN: token },
      addresses: { ...NOWHERE, apiKey: new Secret('e2b_0123456789abcdef') },
    })
    expect(level).toBe('fail')
    expect(found).toContain('process 13 (curl) has SANDYARD_ADMIN_TOKEN')
    expect(found).toContain('process 14 (tool) has the API key')
    expect(found).not.toContain(token)
    expect(found).not.toContain('e2b_0123456789abcdef')
  })

  it('fails for values of secrets that no key of the settings opens, and does not repeat a key', async () => {
    using root = new ProcRoot()
    const key = randomBytes(32).toString('hex')
    const { keyId } = new KeyRing([new Secret(key)])
    await client.query(`insert into public.team (name, slug, email) values ('s', 'secrets', 's@x')`)
    await client.query(
      `insert into public.secret (secret_id, team_id, name, current_version) values ('sec_1', (select id from public.team where slug = 'secrets'), 'n', 1)`,
    )
    await client.query(`insert into public.secret_version (secret_id, version, sealed, key_id) values ('sec_1', 1, '', $1)`, [keyId])
    try {
      for (const environment of [{}, { SANDYARD_SECRETS_KEY: randomBytes(32).toString('hex') }]) {
        expect(await look('D4', { root: root.path, environment })).toMatchObject({ level: 'fail', found: saying(`${keyId} (1 values)`) })
      }
      expect(await look('D4', { root: root.path, environment: { SANDYARD_SECRETS_KEY: key } })).toMatchObject({ level: 'ok' })
      const failing = await look('D4', { root: root.path, environment: { SANDYARD_SECRETS_KEY_COMMAND: 'false' } })
      expect(failing).toMatchObject({ level: 'fail', found: saying('exit code 1') })
    } finally {
      await client.query(`delete from public.secret`)
    }
  })

  it('warns for keys that nobody has used for 90 days', async () => {
    using root = new ProcRoot()
    const addKey = (name: string, created: string, used: string | null): Promise<unknown> =>
      client.query(
        `insert into api_key (team_id, name, hash, prefix, value_length, masked_value_prefix, masked_value_suffix, created_at, last_used_at)
         values ((select id from team limit 1), $1, $1, 'e2b_', 40, 'ab', 'cdef', now() - $2::interval, now() - $3::interval)`,
        [name, created, used],
      )
    await client.query(`insert into team (name, slug, email) values ('t', 'keys', 't@x')`)
    await addKey('fresh', '1 day', null)
    await addKey('in use', '200 days', '1 day')
    expect(await look('D4', { root: root.path })).toMatchObject({ level: 'ok' })
    await addKey('forgotten', '91 days', null)
    await addKey('left', '200 days', '100 days')
    const { level, found } = await look('D4', { root: root.path })
    expect([level, found]).toEqual(['warn', 'keys unused for 90 days: "left" (e2b_ab...cdef), "forgotten" (e2b_ab...cdef)'])
  })
})

describe('R4', () => {
  it('warns without a backup and for one that is older than a week', async () => {
    const note = (text: string): Promise<unknown> =>
      client.query(
        `insert into public.server_setting (name, value) values ('last_backup', $1) on conflict (name) do update set value = excluded.value`,
        [text],
      )
    const machine = { now: () => Date.parse('2026-11-22T12:00:00Z') }
    expect(await look('R4', { machine })).toMatchObject({ level: 'warn', found: 'no backup was made' })
    await note(JSON.stringify({ createdAt: '2026-11-14T11:00:00Z', file: '/backups/x.tar' }))
    expect(await look('R4', { machine })).toMatchObject({ level: 'warn', found: saying('8 days ago') })
    await note(JSON.stringify({ createdAt: '2026-11-15T13:00:00Z', file: '/backups/x.tar' }))
    expect(await look('R4', { machine })).toMatchObject({ level: 'ok' })
    await note('not JSON')
    expect(await look('R4', { machine })).toMatchObject({ level: 'warn', found: 'no backup was made' })
  })

  it('is skipped without the database', async () => {
    expect(await find('R4')).toMatchObject({ level: 'skipped' })
  })
})

describe('R2', () => {
  it('is skipped without a live server, ok with one, and fails for what its loops should have ended', async () => {
    await using database = new Database({ url: test.url, applicationName: 'test', log: silentLogger() })
    expect(await look('R2')).toMatchObject({ level: 'skipped' })
    await insertServer(1, '1 hour')
    expect(await look('R2')).toMatchObject({ level: 'ok' })
    const rows = await SandboxRows.create(database)
    await rows.insert('late')
    await rows.setState('late', 'running', {
      expires_at: new Date(Date.now() - 60_000),
      endpoint_host: '127.0.0.1',
      endpoint_daemon_port: 1,
    })
    expect(await look('R2')).toMatchObject({ level: 'fail', found: saying('1 sandboxes run past') })
    await client.query('delete from public.sandbox')
    expect(await look('R2')).toMatchObject({ level: 'ok' })
    await client.query(`insert into public.build_job (build_id, team_id, plan, server_id, lease_until)
      select build_id, team_id, '{}', 1, now() - interval '1 minute' from public.build join public.template using (template_id) limit 1`)
    expect(await look('R2')).toMatchObject({ level: 'fail', found: saying('1 builds have lost') })
  })
})

function insertServer(id: number, lease: string): Promise<unknown> {
  return client.query(
    `insert into public.server (server_id, engine_id, version, capacity, lease_until) values ($1, 'e', 'v', '{}', now() + $2::interval)`,
    [id, lease],
  )
}
