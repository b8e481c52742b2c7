import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { readMigrations } from '@sandyard/db/migrations'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createBench, createSandbox, type Bench } from './support/bench.ts'
import { runHere } from './support/run-here.ts'

const KEY = '5a'.repeat(32)
const MAIN = join(import.meta.dirname, '../src/main.ts')

let bench: Bench
let file: string
let passphrase: string

beforeAll(async () => {
  bench = await createBench({ env: { SANDYARD_SECRETS_KEY: KEY } })
  await createSandbox(bench)
  await bench.server.call('POST', '/secrets', { body: { name: 'n', value: 'v' } })
  file = join(bench.folder, 'backup')
  passphrase = join(bench.folder, 'passphrase')
  writeFileSync(passphrase, 'correct horse\n')
})
afterAll(() => bench[Symbol.asyncDispose]())

it('writes an encrypted backup beside a running server, and verifies it', async () => {
  const secret = ['--passphrase-file', passphrase]
  const made = await bench.sandyard(['--json', 'backup', 'backup', '--no-images', ...secret])
  expect(made.code, made.stderr).toBe(0)
  expect(JSON.parse(made.stdout)).toMatchObject({ file, isEncrypted: true, images: 0, pausedSandboxes: 0, sizeBytes: statSync(file).size })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const { rows } = JSON.parse(made.stdout) as { rows: number }

  const verified = await bench.sandyard(['--json', 'verify', 'backup', ...secret])
  expect(verified.code, verified.stderr).toBe(0)
  expect(JSON.parse(verified.stdout)).toMatchObject({ rows, hasLoaded: true, hasImages: false, secrets: { values: 1, locked: 1 } })
  const withKey = await bench.sandyard(['verify', 'backup', ...secret], { env: { SANDYARD_SECRETS_KEY: KEY } })
  expect(withKey.stdout).toContain('1 values, which the keys of this machine open')

  expect(await bench.sandyard(['verify', 'backup'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--passphrase-file') as string,
  })
  writeFileSync(join(bench.folder, 'wrong'), 'wrong')
  expect(await bench.sandyard(['verify', 'backup', '--passphrase-file', 'wrong'])).toMatchObject({
    code: 2,
    stderr: 'sandyard: The passphrase is wrong, or the backup is damaged.\n',
  })
})

it('names files that do not exist, takes an empty folder of uploads for none, and refuses an absent data directory', async () => {
  const hash = '0'.repeat(64)
  const { teamId, database } = bench.world
  await database.db.insertInto('layer_upload').values({ team_id: teamId, hash, size_bytes: 1 }).execute()
  const backup = (env: Record<string, string>) =>
    runHere({ args: ['--json', 'backup', 'files', '--no-images'], env: { ...bench.env, ...env }, cwd: bench.folder })
  const upload = `uploads/${teamId}/${hash}.tar`
  const without = await backup({ SANDYARD_UPLOADS_DIR: '' })
  expect(JSON.parse(without.stdout)).toMatchObject({ missingFiles: ['files/credentials', upload] })
  expect(without.stderr).toContain(`does not exist: ${join(bench.folder, upload)}`)
  mkdirSync(join(bench.folder, 'uploads', teamId), { recursive: true })
  writeFileSync(join(bench.folder, upload), 'x')
  expect(JSON.parse((await backup({ SANDYARD_UPLOADS_DIR: '' })).stdout)).toMatchObject({ missingFiles: ['files/credentials'] })
  const absent = join(bench.folder, 'absent')
  expect(await backup({ SANDYARD_DATA_DIR: absent })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`${absent} does not exist`) as string,
  })
})

it('refuses to restore while a server runs, over data, and without a confirmation', async () => {
  expect((await bench.sandyard(['backup', 'plain', '--no-images'])).code).toBe(0)
  const restore = (...args: string[]) => bench.sandyard(['restore', 'plain', ...args])
  expect(await restore('--replace', '--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('A server runs') as string })
  await bench.server[Symbol.asyncDispose]()
  await bench.world.database.db.deleteFrom('server').execute()
  expect(await restore()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--replace --yes') as string })
  expect(await restore('--replace')).toMatchObject({ code: 4, stderr: expect.stringContaining('repeat it with --yes') as string })
  expect(await bench.world.database.db.selectFrom('sandbox').select('state').execute()).toHaveLength(1)
})

it('refuses damaged and foreign files with one sentence', async () => {
  const bytes = readFileSync(join(bench.folder, 'plain'))
  writeFileSync(join(bench.folder, 'cut'), bytes.subarray(0, bytes.length / 2))
  writeFileSync(join(bench.folder, 'text'), 'not an archive '.repeat(1000))
  for (const name of ['cut', 'text']) {
    for (const command of ['verify', 'restore']) {
      const { code, stderr } = await bench.sandyard([command, name])
      expect(code, `${command} ${name}`).toBe(2)
      expect(stderr).toMatch(/sandyard: .*(not a backup of Sandyard|not a complete backup|damaged).*\n$/)
      expect(stderr).not.toMatch(/^\s+at /m)
    }
  }
  expect((await bench.sandyard(['verify', 'absent'])).code).toBe(3)
})

it('leaves no file and says so in one sentence when there is no room', () => {
  const env = { ...bench.env, PATH: process.env['PATH'], HOME: bench.folder }
  const args = ['-c', 'ulimit -f 16; exec "$0" "$@"', process.execPath, MAIN, 'backup', 'full', '--no-images']
  const { status, stderr } = spawnSync('sh', args, { cwd: bench.folder, env, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringContaining(`There is no room for ${join(bench.folder, 'full')}: free some space`) as string,
  })
  expect(readdirSync(bench.folder).filter((name) => name.startsWith('full'))).toEqual([])
})

it('goes on when its words cannot be written, and fails at the end when its answer cannot', () => {
  const run = (command: string, redirection: string) => {
    const env = { ...bench.env, PATH: process.env['PATH'], HOME: bench.folder }
    const args = ['-c', `exec "$0" "$@" ${redirection}`, process.execPath, MAIN, ...command.split(' ')]
    return spawnSync('sh', args, { cwd: bench.folder, env, encoding: 'utf8' }).status
  }
  expect(run('backup mute --no-images', '2> /dev/full')).toBe(0)
  expect(statSync(join(bench.folder, 'mute')).size).toBeGreaterThan(0)
  expect(run('backup unheard --no-images', '> /dev/full')).toBe(1)
  expect(statSync(join(bench.folder, 'unheard')).size).toBeGreaterThan(0)
  expect(run('completion bash', '> /dev/full')).toBe(1)
  expect(run('completion bash', '> /dev/null')).toBe(0)
})

it('shows the migrations that a start would run, and wants a recent backup before them', async () => {
  const { db } = bench.world.database
  const last = (await readMigrations()).at(-1)
  const done = await bench.sandyard(['--json', 'upgrade', '--check'])
  expect(JSON.parse(done.stdout)).toMatchObject({ pending: [], newer: [], problems: [], lastBackup: { hasImages: false } })
  expect(done.code).toBe(0)

  await sql`delete from schema_migration where name = ${last?.name}`.execute(db)
  const pending = await bench.sandyard(['upgrade', '--check'])
  expect(pending.stdout).toContain(last?.name)
  expect(pending.code).toBe(0)
  await db.deleteFrom('server_setting').where('name', '=', 'last_backup').execute()
  const unsafe = await bench.sandyard(['upgrade', '--check'])
  expect(unsafe).toMatchObject({ code: 7, stderr: expect.stringContaining('no backup of the last 24 hours') as string })

  await sql`alter table schema_migration add column if not exists oldest_release text`.execute(db)
  await sql`insert into schema_migration (name, sha256, oldest_release) values ('9999_newer.sql', 'x', '99.0.0')`.execute(db)
  const newer = await bench.sandyard(['upgrade', '--check'])
  expect(newer).toMatchObject({ code: 7, stderr: expect.stringContaining('needs release 99.0.0') as string })
})
