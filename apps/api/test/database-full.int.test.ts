import { spawnSync } from 'node:child_process'
import { chown, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomId } from '@sandyard/kit/ids/ids'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'
import { Client, DatabaseError } from 'pg'
import { expect, it } from 'vitest'
import { createWorld } from './support/control-plane.ts'

const DISK = '48m'
const LARGER_DISK = '96m'
const FULL = '53100'

interface SmallDatabase extends TestDatabase {
  /** Gives its disk more room. */
  grow(): void
}

/** A database whose tables are on a file system of their own; undefined where this process cannot mount one for the server. */
async function openSmallDatabase(stack: AsyncDisposableStack): Promise<SmallDatabase | undefined> {
  const home = await createTestDatabase()
  stack.defer(() => home[Symbol.asyncDispose]())
  const server = new URL(home.url)
  const database = server.pathname.slice(1)
  server.pathname = '/postgres'
  const admin = new Client({ connectionString: server.href })
  await admin.connect()
  stack.defer(() => admin.end())
  const { rows } = await admin.query<{ data_directory: string }>('show data_directory')
  const owner = await stat(rows[0]?.data_directory ?? '').catch(() => undefined)
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-full-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  if (owner === undefined || spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', folder]).status !== 0) return undefined
  stack.defer(() => void spawnSync('umount', [folder]))
  await chown(folder, owner.uid, owner.gid)
  const space = `small_${randomId(8)}`
  await admin.query(`create tablespace ${space} location '${folder}'`)
  stack.defer(async () => {
    await admin.query(`drop database if exists ${database} with (force)`)
    await admin.query(`drop tablespace ${space}`)
  })
  await admin.query(`alter database ${database} set tablespace ${space}`)
  const grow = (): void => void spawnSync('mount', ['-o', `remount,size=${LARGER_DISK}`, folder])
  return { ...home, grow, async [Symbol.asyncDispose]() {} }
}

/** Writes until the disk has no page left. */
async function fill(client: Client): Promise<void> {
  await client.query('create table filler (text text)')
  for (const rows of [4000, 100, 1]) {
    for (let isFull = false; !isFull;) {
      const written = client.query("insert into filler select repeat('x', 1500) from generate_series(1, $1)", [rows])
      isFull = await written.then(
        () => false,
        (err: unknown) => {
          if (!(err instanceof DatabaseError) || err.code !== FULL) throw err
          return true
        },
      )
    }
  }
}

it('a database whose disk is full answers 503 to changes and serves reads, and takes changes again when it has room', async (context) => {
  await using stack = new AsyncDisposableStack()
  const home = await openSmallDatabase(stack)
  if (home === undefined) return context.skip('absent here: a file system of its own for the tables of the test database')
  const world = stack.use(await createWorld(home))
  const api = await world.startServer()
  const create = () => api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
  const client = new Client({ connectionString: home.url })
  await client.connect()
  stack.defer(() => client.end())
  await fill(client)
  const refused = await create()
  expect(refused.body).toEqual({ code: 503, message: 'The database has no disk or memory left: try again later' })
  expect([refused.headers['retry-after'], refused.headers['should-retry']]).toEqual(['1', 'false'])
  expect(await api.call('GET', '/v2/sandboxes')).toMatchObject({ status: 200, body: [] })
  expect(world.engine.sandboxes.size).toBe(0)
  home.grow()
  expect((await create()).status).toBe(201)
})
