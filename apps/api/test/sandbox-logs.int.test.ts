import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { startDaemon, type TestDaemon } from '../../daemon/test/support/test-daemon.ts'
import { startProcess } from '../src/daemon/start-process.ts'
import { storeLastLogs } from '../src/sandbox-logs/store-last-logs.ts'
import { forgetMetrics } from '../src/sandbox-metrics/metric-loops.ts'
import { ADMIN_TOKEN, createWorld, reconcileNow, waitFor, type Server, type World } from './support/control-plane.ts'

interface Entry {
  readonly timestamp: string
  readonly message: string
  readonly level: string
  readonly fields: Record<string, string>
}

let world: World
let api: Server
let daemonPort: number | undefined
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({
    runtime: (options) =>
      new FakeRuntime({ ...options, endpointOf: () => ({ host: '127.0.0.1', daemonPort: daemonPort ?? world.daemon.port }) }),
  })
})
afterAll(() => world[Symbol.asyncDispose]())

async function create(): Promise<string> {
  world.daemon.report = () => undefined
  return (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 3600 } })).body.sandboxID
}

/** Returns when the engine has removed the sandbox, or has failed to. */
async function kill(id: string): Promise<void> {
  expect((await api.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
  await api.ctx.sandboxes.repairs.drain()
}
const v1 = async (id: string, query = '') => (await api.call('GET', `/sandboxes/${id}/logs${query}`)).body
const v2 = async (id: string, query = '?direction=forward'): Promise<Entry[]> =>
  (await api.call('GET', `/v2/sandboxes/${id}/logs${query}`)).body.logs
const messages = (entries: readonly Entry[]): string[] => entries.map(({ message }) => message)

const collect = (sandboxId: string): Promise<void> =>
  storeLastLogs(
    { database: world.database, tokenSeed: api.ctx.installation.tokenSeed, log: silentLogger() },
    { sandboxId, incarnation: 1 },
    20_000,
  )

/** Stores a line a number of seconds ago, for a sandbox that need not exist. */
async function store(sandboxId: string, message: string, options: { level?: 'debug' | 'warn'; secondsAgo?: number } = {}): Promise<void> {
  const { level = 'debug', secondsAgo = 0 } = options
  await world.database.db
    .insertInto('sandbox_log')
    .values({
      sandbox_id: sandboxId,
      team_id: world.teamId,
      logged_at: new Date(Date.now() - secondsAgo * 1000),
      level,
      message,
      fields: JSON.stringify({ pid: 7, deep: { a: true } }),
    })
    .execute()
}

/** What the daemon of the world answers: entries with these numbers. */
function report(boot: string, numbers: readonly number[], entry: object = {}): void {
  const entries = numbers.map((n) => ({ n, at: Date.now(), level: 'info', message: `entry ${n}`, fields: {}, ...entry }))
  world.daemon.report = (url) => {
    const { searchParams, pathname } = new URL(url, 'http://x')
    if (pathname !== '/logs') return undefined
    const after = searchParams.get('boot') === boot ? Number(searchParams.get('after')) : 0
    return { boot, entries: entries.filter(({ n }) => n > after) }
  }
}

describe('the lines of the lifecycle', () => {
  it('[GET /v2/sandboxes/{sandboxID}/logs] are those of each state, also after the end', async () => {
    const id = await create()
    await kill(id)
    const entries = await v2(id)
    expect(messages(entries)).toEqual(['Sandbox is starting', 'Sandbox started', 'Sandbox is ending', 'Sandbox ended'])
    expect(entries[2]).toEqual({
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      message: 'Sandbox is ending',
      level: 'info',
      fields: { logger: 'lifecycle', actor: 'key', reason: 'killed' },
    })
  })

  it('have no end while the engine fails to remove the sandbox', async () => {
    const id = await create()
    api.runtime.faults.failBefore('remove')
    await kill(id)
    expect(messages(await v2(id)).at(-1)).toBe('Sandbox is ending')
    await world.database.db
      .updateTable('sandbox')
      .set({ state_changed_at: sql<Date>`state_changed_at - interval '1 minute'` })
      .execute()
    await reconcileNow(api)
    expect(messages(await v2(id)).at(-1)).toBe('Sandbox ended')
  })
})

describe('[GET /sandboxes/{sandboxID}/logs]', () => {
  it('returns lines as JSON texts and as entries, oldest first', async () => {
    await store('iv1', 'first', { secondsAgo: 20, level: 'warn' })
    await store('iv1', 'second', { secondsAgo: 10 })
    const { logs, logEntries } = await v1('iv1')
    expect(logs.map(({ line }: { line: string }) => JSON.parse(line))).toEqual([
      { message: 'first', level: 'warn', pid: 7, deep: { a: true } },
      { message: 'second', level: 'debug', pid: 7, deep: { a: true } },
    ])
    expect(logEntries[0]).toEqual({
      timestamp: logs[0].timestamp,
      message: 'first',
      level: 'warn',
      fields: { pid: '7', deep: '{"a":true}' },
    })
    const start = Date.parse(logs[0].timestamp)
    expect(messages((await v1('iv1', `?start=${start}`)).logEntries)).toEqual(['first', 'second'])
    expect(messages((await v1('iv1', `?start=${start + 1}`)).logEntries)).toEqual(['second'])
    expect(messages((await v1('iv1', '?limit=1')).logEntries)).toEqual(['first'])
    expect(await v1('iv1', '?limit=0')).toEqual({ logs: [], logEntries: [] })
    expect(messages((await v1('iv1', '?limit=2147483647')).logEntries)).toEqual(['first', 'second'])
    expect(await v1('iunknown')).toEqual({ logs: [], logEntries: [] })
  })
})

describe('[GET /v2/sandboxes/{sandboxID}/logs]', () => {
  beforeAll(async () => {
    await store('iv2', 'one', { secondsAgo: 30, level: 'warn' })
    await store('iv2', 'Two', { secondsAgo: 20 })
    await store('iv2', 'three', { secondsAgo: 10, level: 'warn' })
  })

  it.each<[string, string[]]>([
    ['', ['three', 'Two', 'one']],
    ['?direction=backward', ['three', 'Two', 'one']],
    ['?direction=forward', ['one', 'Two', 'three']],
    ['?direction=forward&limit=2', ['one', 'Two']],
    ['?limit=1', ['three']],
    ['?limit=0', []],
    ['?level=debug', ['three', 'Two', 'one']],
    ['?level=info', ['three', 'one']],
    ['?level=warn', ['three', 'one']],
    ['?level=error', []],
    ['?search=T', ['Two']],
    ['?search=t', ['three']],
    ['?search=%25', []],
    ['?search=e&level=warn&limit=1', ['three']],
    ['?cursor=0', []],
    ['?cursor=0&direction=forward', ['one', 'Two', 'three']],
  ])('returns for "%s" %j', async (query, expected) => expect(messages(await v2('iv2', query))).toEqual(expected))

  it('continues from a cursor in both directions, inclusive', async () => {
    const [, middle] = await v2('iv2')
    const cursor = Date.parse(middle?.timestamp ?? '')
    expect(messages(await v2('iv2', `?direction=forward&cursor=${cursor}`))).toEqual(['Two', 'three'])
    expect(messages(await v2('iv2', `?cursor=${cursor}`))).toEqual(['Two', 'one'])
  })

  it.each(['?limit=1001', '?limit=-1', '?level=fatal', '?direction=up', `?search=${'x'.repeat(257)}`, '?cursor=x', '?cursor=1e300'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await api.call('GET', `/v2/sandboxes/iv2/logs${query}`)
      expect([status, body.message]).toEqual([400, expect.stringMatching(/^validation error/)])
    },
  )

  it('searches for texts that Postgres cannot store', async () => {
    expect(await api.call('GET', '/v2/sandboxes/iv2/logs?search=%00')).toMatchObject({ status: 200, body: { logs: [] } })
  })

  it('returns nothing to another team', async () => {
    const { id } = await world.database.db
      .insertInto('team')
      .values({ name: 'Other', slug: 'other', email: 'other@acme.test' })
      .returning('id')
      .executeTakeFirstOrThrow()
    const headers = { 'x-admin-token': ADMIN_TOKEN, 'x-team-id': id }
    expect((await api.call('GET', '/v2/sandboxes/iv2/logs', { apiKey: null, headers })).body).toEqual({ logs: [] })
    expect((await api.call('GET', '/sandboxes/iv2/logs', { apiKey: null, headers })).body).toEqual({ logs: [], logEntries: [] })
    expect(await v2('iv2')).toHaveLength(3)
  })

  it('returns and keeps no lines older than a week', async () => {
    await store('iold', 'old', { secondsAgo: 8 * 24 * 3600 })
    await store('iold', 'new')
    expect(messages(await v2('iold'))).toEqual(['new'])
    await forgetMetrics({ database: world.database, retention: api.ctx.config.retention })
    const { rows } = await sql<{ message: string }>`select message from sandbox_log where sandbox_id = 'iold'`.execute(world.database.db)
    expect(rows).toEqual([{ message: 'new' }])
  })
})

describe('the entries of the daemon', () => {
  const fromDaemon = async (id: string) => messages(await v2(id)).filter((message) => message.includes('entr'))

  it('are stored once, by several readers at once and over runs of the daemon', async () => {
    const id = await create()
    report('a', [1, 2])
    await Promise.all(Array.from({ length: 8 }, () => collect(id)))
    expect(await fromDaemon(id)).toEqual(['entry 1', 'entry 2'])
    report('a', [1, 2, 3])
    await collect(id)
    report('b', [1])
    await collect(id)
    await collect(id)
    expect(await fromDaemon(id)).toEqual(['entry 1', 'entry 2', 'entry 3', 'entry 1'])
  })

  it('are stored once when the daemon repeats them', async () => {
    const id = await create()
    world.daemon.report = () => ({ boot: 'a', entries: [{ n: 1, at: 1, message: 'entry 1', fields: {} }] })
    await collect(id)
    await collect(id)
    expect(await fromDaemon(id)).toEqual(['entry 1'])
  })

  it('have a line for those that were dropped before they were read', async () => {
    const id = await create()
    report('a', [501, 502])
    await collect(id)
    report('a', [501, 502, 504])
    await collect(id)
    expect(await fromDaemon(id)).toEqual([
      '500 log entries were dropped: there were too many',
      'entry 501',
      'entry 502',
      '1 log entries were dropped: there were too many',
      'entry 504',
    ])
  })

  it('have times after the stored lines and never in the future', async () => {
    const id = await create()
    report('a', [1], { at: 0 })
    await collect(id)
    report('a', [1, 2], { at: Date.now() + 3_600_000 })
    await collect(id)
    const times = (await v2(id)).map(({ timestamp }) => Date.parse(timestamp))
    expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b))
    const { rows } = await sql<{ now: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as now
    `.execute(world.database.db)
    expect(times.at(-1)).toBeLessThanOrEqual((rows[0]?.now ?? 0) + 1)
  })

  it('are cut off and cleaned when they are hostile', async () => {
    const id = await create()
    const fields = {
      message: 'x',
      level: 'x',
      ['k'.repeat(100)]: 'v'.repeat(5000),
      nul: 'a\0b',
      half: '\ud800',
      deep: { a: 1 },
      ...Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, index])),
    }
    const entries = [
      null,
      { n: 'x' },
      { n: 1, at: 1, message: 5, fields: {} },
      { n: 2, at: Number.NaN, message: 'no time', fields: {} },
      { n: 3, at: 1, level: 'fatal', message: `entry\0${'x'.repeat(5000)}`, fields },
      { n: 3, at: 1, message: 'entry again', fields: {} },
    ]
    world.daemon.report = () => ({ boot: 'a', entries })
    await collect(id)
    const found = (await v2(id)).filter(({ message }) => message.startsWith('entry'))
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ level: 'info', fields: { nul: 'ab', half: '\uFFFD' } })
    expect(found[0]?.message).toHaveLength(2047)
    expect(Object.keys(found[0]?.fields ?? {})).toHaveLength(20)
    expect(found[0]?.fields).not.toHaveProperty('deep')
    expect(found[0]?.fields).not.toHaveProperty('message')
  })

  it.each<[string, object | 'hang']>([
    ['none', []],
    ['a list of nothing', { boot: 'a', entries: 5 }],
    ['too long', { boot: 'a', entries: ['x'.repeat(2 * 1024 ** 2)] }],
  ])('may be %s', async (_, answer) => {
    const id = await create()
    world.daemon.report = () => answer
    await collect(id)
    expect(messages(await v2(id))).toEqual(['Sandbox is starting', 'Sandbox started'])
  })

  it('of a sandbox that ended are not stored, and nothing fails', async () => {
    const id = await create()
    await kill(id)
    report('a', [1])
    await collect(id)
    expect(await fromDaemon(id)).toEqual([])
  })
})

describe('with a real daemon', () => {
  const folder = join(tmpdir(), 'sandyard-test-cgroup-')
  let daemon: TestDaemon
  let controlGroups: string
  beforeAll(async () => {
    controlGroups = await mkdtemp(folder)
    await writeControlGroup(controlGroups)
    daemon = await startDaemon({ SANDYARD_CONTROL_GROUPS: controlGroups })
    daemonPort = Number(new URL(daemon.url).port)
  })
  afterAll(async () => {
    daemonPort = undefined
    await daemon[Symbol.asyncDispose]()
    await rm(controlGroups, { recursive: true, force: true })
  })

  it('the loops of a server store its metrics and its processes', async () => {
    await using looping = await world.startServer({ loops: true, runtime: () => api.runtime })
    const { sandboxID: id } = (await looping.call('POST', '/v2/sandboxes', { body: { templateID: 'base', envVars: { KEY: 'hidden' } } }))
      .body
    const target = {
      endpoint: { host: '127.0.0.1', daemonPort: daemonPort ?? 0 },
      accessToken: sandboxAccessToken(api.ctx.installation.tokenSeed, id),
    }
    const events = startProcess(
      target,
      { cmd: '/bin/sh', args: ['-c', 'echo output; exit 4'], user: 'root', cwd: '/' },
      AbortSignal.timeout(20_000),
    )
    for await (const _event of events) continue
    await waitFor('the end of the process', async () => messages(await v2(id)).includes('Process ended'))
    const entries = await v2(id)
    expect(entries.find(({ message }) => message === 'Process started')?.fields).toMatchObject({
      logger: 'process',
      user: 'root',
      cmd: '/bin/sh -c echo output; exit 4',
    })
    expect(entries.find(({ message }) => message === 'Process ended')).toMatchObject({ level: 'warn', fields: { exitCode: '4' } })
    expect(JSON.stringify(entries)).not.toContain('hidden')
    await waitFor('a sample', async () => (await api.call('GET', `/sandboxes/${id}/metrics`)).body.length > 0)
    expect((await api.call('GET', `/sandboxes/${id}/metrics`)).body[0]).toMatchObject({
      cpuCount: 2,
      memUsed: 700,
      memTotal: 2000,
      memCache: 250,
    })
    await kill(id)
  })
})

async function writeControlGroup(path: string): Promise<void> {
  await mkdir(path, { recursive: true })
  const files = {
    'cgroup.controllers': 'cpu memory\n',
    'cpu.stat': 'usage_usec 4000\n',
    'cpu.max': '200000 100000\n',
    'memory.max': '2000\n',
    'memory.current': '1000\n',
    'memory.stat': 'file 250\ninactive_file 200\nactive_file 100\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
}
