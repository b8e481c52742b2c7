import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { HealthReport } from '@sandyard/dashboard-contract/host'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { HostFeed } from '../../src/dashboard/live/topics/host-topic.ts'
import { ADMIN_TOKEN, createWorld, endLease, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { LivePage } from '../support/live-page.ts'

vi.setConfig({ testTimeout: 180_000 })

const shutdown = new Shutdown(silentLogger())
let world: World
let api: Server
let operator: Browser
let developer: Browser
let silentUrl: string
beforeAll(async () => {
  world = await createWorld()
  shutdown.add('world', () => world[Symbol.asyncDispose]())
  silentUrl = await openSilentListener()
  api = await world.startServer({ loops: true, host: hostParts(world.database.url) })
  operator = await new Browser(api).logIn({ adminToken: ADMIN_TOKEN })
  developer = await new Browser(api).logIn({ key: world.credentials.apiKey })
})
afterAll(() => shutdown.run())

/** The checks find no engine and no server. */
function hostParts(databaseUrl: string) {
  const environment = {
    // oxlint-disable-next-line node/no-process-env -- programs that checks call
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    DOCKER_HOST: 'unix:///nonexistent/docker.sock',
    SANDYARD_DATA_DIR: world.uploadsDir,
    SANDYARD_API_PORT: '0',
    SANDYARD_PROXY_PORT: '0',
  }
  return { environment, openOrphans: () => Promise.reject(new Error('there is no engine')) }
}

/** A database that accepts connections and never answers: a run of the checks waits for it. */
async function openSilentListener(): Promise<string> {
  const listener = createServer((socket) => void socket.on('error', () => undefined).resume())
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  shutdown.add('listener', () => listener.close())
  return `postgres://user@127.0.0.1:${(listener.address() as AddressInfo).port}/none`
}

/** The command takes seconds, and many on a busy machine. */
async function waitFor(what: string, test: () => boolean | Promise<boolean>): Promise<void> {
  await pollUntil({ what, timeoutMs: 60_000, everyMs: 20 }, async () => ((await test()) ? true : undefined))
}

const health = async (by = operator): Promise<HealthReport> => (await by.call('GET', '/api/health')).body
const run = (body: object = {}, by = operator) => by.call('POST', '/api/health/run', { body })
const isRunning = async (): Promise<boolean> => (await health()).state === 'running'

/** The processes whose parent is `pid`. */
async function childrenOf(pid: number): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : ''
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(parent) === pid && state !== 'Z') found.push(Number(name))
  }
  return found
}

it('shows the host, its checks and its orphans to operators only', async () => {
  await using page = await LivePage.open(api, developer)
  const topic = page.subscribe('host')
  await expect(page.frame('error', (frame) => frame.id === topic)).resolves.toMatchObject({ code: 403 })
  for (const path of ['/api/host', '/api/health', '/api/orphans']) expect((await developer.call('GET', path)).status, path).toBe(403)
  expect((await run({}, developer)).status).toBe(403)
  expect((await developer.call('POST', '/api/health/dismiss', { body: { id: 'E1', for: 'day' } })).status).toBe(403)
  expect((await developer.call('POST', '/api/orphans/collect', { body: { dryRun: true } })).status).toBe(403)
  expect(await health()).toEqual({ state: 'never', ranAt: null, isDeep: false, message: null, checks: [] })
})

it('runs the checks once at a time, keeps their result for all servers, and shows it live', async () => {
  await using page = await LivePage.open(api, operator)
  const topic = page.subscribe('host')
  const { data } = await page.frame('snapshot', (frame) => frame.id === topic)
  const { host, health: first } = data as Topics['host']['snapshot']
  expect(first.state).toBe('never')
  expect(host).toMatchObject({ running: 0, orphans: null, versions: { node: process.versions.node } })
  expect(host.memoryTotalBytes).toBeGreaterThan(0)

  const begun = await run()
  expect(begun, begun.text).toMatchObject({ status: 202, body: { state: 'running' } })
  expect((await run()).status).toBe(409)
  await waitFor('the end of the checks', async () => !(await isRunning()))
  const done = await health()
  expect(done, done.message ?? '').toMatchObject({ state: 'done', isDeep: false })
  const levelOf = (id: string): string | undefined => done.checks.find((check) => check.id === id)?.level
  expect([levelOf('E1'), levelOf('D1'), levelOf('R5')]).toEqual(['fail', 'ok', 'skipped'])
  expect(done.checks.find(({ id }) => id === 'E1')).toMatchObject({ title: 'Engine answers', dismissedUntil: null })
  expect(done.checks.length).toBeGreaterThan(35)
  const told = (state: string): boolean =>
    page.frames.some((frame) => frame.t === 'patch' && (frame.data as Topics['host']['patch']).health?.state === state)
  await waitFor('the result on the page', () => told('running') && told('done'))

  const second = await world.startServer()
  const there = await new Browser(second).logIn({ adminToken: ADMIN_TOKEN })
  expect(await health(there)).toEqual(done)
  expect((await run({}, there)).status, 'a server without the command').toBe(501)
  expect((await there.call('GET', '/api/orphans')).status).toBe(501)
})

it('hides a finding for a time, and only one of the last result', async () => {
  const dismiss = (id: string, time: string) => operator.call('POST', '/api/health/dismiss', { body: { id, for: time } })
  const untilOf = ({ checks }: HealthReport): string | null | undefined => checks.find(({ id }) => id === 'E1')?.dismissedUntil
  const { body } = await dismiss('E1', 'week')
  const days = (Date.parse(untilOf(body) ?? '') - Date.now()) / 86_400_000
  expect(Math.round(days)).toBe(7)
  expect(untilOf(await health())).toBe(untilOf(body))
  expect(untilOf((await dismiss('E1', 'none')).body)).toBeNull()
  expect((await dismiss('Z9', 'day')).status).toBe(404)
  expect((await dismiss('E1', 'year')).status).toBe(400)
  expect((await dismiss('x', 'day')).status).toBe(400)
})

it('ends the checks with the server, and a run of a dead server counts as failed', async () => {
  const before = await health()
  const other = await world.startServer({ host: hostParts(silentUrl) })
  const there = await new Browser(other).logIn({ adminToken: ADMIN_TOKEN })
  expect((await run({ deep: true }, there)).status).toBe(202)
  await waitFor('the process', async () => (await childrenOf(process.pid)).length > 0)
  await other.ctx[Symbol.asyncDispose]()
  expect(await childrenOf(process.pid)).toEqual([])
  const stopped = await health()
  expect(stopped).toMatchObject({ state: 'failed', message: 'The server was stopped while the checks ran', isDeep: false })
  expect([stopped.ranAt, stopped.checks]).toEqual([before.ranAt, before.checks])

  const dying = await world.startServer({ host: hostParts(silentUrl) })
  expect((await run({}, await new Browser(dying).logIn({ adminToken: ADMIN_TOKEN }))).status).toBe(202)
  expect((await run()).status).toBe(409)
  await endLease(world, dying)
  await waitFor('the run to be lost', async () => !(await isRunning()))
  expect(await health()).toMatchObject({ state: 'failed', message: 'The server that ran the checks has ended' })
  expect((await run()).status).toBe(202)
  await dying.ctx[Symbol.asyncDispose]()
  await waitFor('the end of the checks', async () => !(await isRunning()))
  expect(await health(), 'the run of the dead server changes nothing').toMatchObject({ state: 'done' })
})

it('says why the checks could not run, and keeps the result before', async () => {
  const before = await health()
  const { environment, openOrphans } = hostParts(world.database.url)
  const wrong = await world.startServer({ host: { environment: { ...environment, SANDYARD_METRICS_PORT: 'nonsense' }, openOrphans } })
  expect((await run({}, await new Browser(wrong).logIn({ adminToken: ADMIN_TOKEN }))).status).toBe(202)
  await waitFor('the end of the checks', async () => !(await isRunning()))
  const failed = await health()
  expect(failed).toMatchObject({ state: 'failed', message: expect.stringContaining('SANDYARD_METRICS_PORT') })
  expect([failed.ranAt, failed.checks]).toEqual([before.ranAt, before.checks])
})

it('leaves no process behind when the server is killed', async () => {
  const program = fileURLToPath(new URL('../support/doctor-parent.ts', import.meta.url))
  const parent = spawn(process.execPath, [program, silentUrl], { stdio: 'ignore' })
  let children: number[] = []
  await waitFor('the process', async () => (children = await childrenOf(parent.pid ?? 0)).length > 0)
  parent.kill('SIGKILL')
  const isAlive = async (pid: number): Promise<boolean> => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    return stat !== '' && !/\) Z /.test(stat)
  }
  await waitFor('its end', async () => !(await isAlive(children[0] ?? 0)))
})

it('reads the host once, however many operators look', async () => {
  let reads = 0
  const { config, database, sandboxes } = api.ctx
  const orphans = {
    isServed: false,
    get known() {
      reads += 1
      return { count: 2, bytes: 3 }
    },
  }
  const feed = new HostFeed({ config, database, sandboxes, orphans: orphans as never }, silentLogger())
  const seen: unknown[] = []
  const nothing = (): void => undefined
  const topics = Array.from({ length: 20 }, (_, at) => {
    const request = { teamId: `team ${at}`, isOperator: true, argument: '', query: '', inTurn: <T>(work: () => Promise<T>) => work() }
    const topic = feed.make(request)
    const reader = {
      snapshot: (data: unknown) => void seen.push(data),
      patch: nothing,
      gap: nothing,
      fail: (err: unknown) => void seen.push(err),
    }
    topic.join(reader)
    return { topic, reader }
  })
  await waitFor('all snapshots', () => seen.length === 20)
  expect(seen[0]).toMatchObject({ host: { orphans: { count: 2, bytes: 3 } } })
  expect(reads).toBeLessThan(5)
  for (const { topic, reader } of topics) {
    topic.leave(reader)
    topic.end()
  }
})
