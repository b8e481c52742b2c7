import { mkdtempSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { TOKEN_SEED_SETTING } from '@sandyard/db/sandbox-token'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createTestDatabase } from '@sandyard/test-kit/postgres'
import { commandLine } from '../src/process/process-identity.ts'
import { ChildSupervisor, type SupervisorOptions } from '../src/children/child-supervisor.ts'
import { EGRESS, PROXY } from '../src/children/programs.ts'

const SECRET = 'a-password'

function options(more: Partial<SupervisorOptions> = {}): SupervisorOptions {
  return {
    program: PROXY,
    // No database answers at this address; the proxy listens without one.
    environment: {
      DATABASE_URL: `postgres://x:${SECRET}@127.0.0.1:1/none`,
      SANDYARD_PROXY_PORT: '0',
      HOME: mkdtempSync(join(tmpdir(), 'proxy-')),
    },
    heapMib: 200,
    onLog: () => undefined,
    log: silentLogger(),
    registry: new Registry(),
    graceMs: 10_000,
    ...more,
  }
}

async function isServing(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).ok
  } catch {
    return false
  }
}

/** Waits until a process other than `former` serves the port. */
async function replaced(proxy: ChildSupervisor, former: number | undefined): Promise<number> {
  return pollUntil({ what: 'another proxy', timeoutMs: 60_000, everyMs: 20 }, async () =>
    proxy.pid !== former && (await isServing(proxy.port)) ? proxy.pid : undefined,
  )
}

it('has its own heap limit and no secret on its command line', async () => {
  await using proxy = await ChildSupervisor.start(options())
  const line = commandLine(proxy.pid ?? 0)
  expect(line).toContain('--max-old-space-size=200')
  expect(line.join(' ')).not.toContain(SECRET)
  expect(await isServing(proxy.port)).toBe(true)
})

it('listens on its port again after each kill, and the metrics count the restarts', async () => {
  const registry = new Registry()
  await using proxy = await ChildSupervisor.start(options({ registry }))
  for (const restarts of [1, 2]) {
    const former = proxy.pid ?? 0
    process.kill(former, 'SIGKILL')
    await replaced(proxy, former)
    expect(await proxy.metrics()).toMatch(/^sandyard_proxy_process_resident_memory_bytes \d+$/m)
    const own = await registry.metrics()
    expect(own).toContain(`sandyard_proxy_restarts_total ${restarts}`)
    expect(own).toContain('sandyard_proxy_up 1')
  }
})

it('starts the egress gateway again after a kill, with its own metrics', async () => {
  const registry = new Registry()
  const environment = { ...options().environment, SANDYARD_EGRESS_HEALTH_PORT: '0' }
  await using egress = await ChildSupervisor.start(options({ program: EGRESS, environment, registry }))
  const former = egress.pid ?? 0
  process.kill(former, 'SIGKILL')
  await replaced(egress, former)
  expect(await egress.metrics()).toMatch(/^sandyard_egress_open_connections 0$/m)
  expect(await registry.metrics()).toContain('sandyard_egress_restarts_total 1')
})

it('replaces a stopped proxy that does not answer, and the metrics page meets its deadline meanwhile', async () => {
  const registry = new Registry()
  await using proxy = await ChildSupervisor.start(options({ registry, silenceMs: 4000 }))
  const former = proxy.pid ?? 0
  process.kill(former, 'SIGSTOP')
  expect(await proxy.metrics()).toBe('')
  expect(await registry.metrics()).toContain('sandyard_proxy_up 0')
  await replaced(proxy, former)
})

it('reports a taken address, and retries when a later start fails', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  const environment = { ...options().environment, SANDYARD_PROXY_PORT: String(port) }
  await expect(ChildSupervisor.start(options({ environment }))).rejects.toMatchObject({ code: 'EADDRINUSE' })
  taken.close()

  await using proxy = await ChildSupervisor.start(options({ environment }))
  expect(proxy.port).toBe(port)
})

it('asks the control plane for resumes, also after a restart', async () => {
  await using home = await createTestDatabase()
  await insertPausedSandbox(home.url)
  const asked: string[] = []
  const api = createHttpServer((req, res) => {
    asked.push(req.url ?? '')
    res.writeHead(403).end('{}')
  })
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  await using proxy = await ChildSupervisor.start(options({ environment: { ...options().environment, DATABASE_URL: home.url } }))
  const statusOf = async (): Promise<number> =>
    (await fetch(`http://127.0.0.1:${proxy.port}`, { headers: { 'E2b-Sandbox-Id': 'i1', 'E2b-Sandbox-Port': '80' } })).status
  expect(await statusOf()).toBe(502)
  proxy.tell({ SANDYARD_API_INTERNAL_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}` })
  await expect.poll(statusOf).toBe(403)
  const former = proxy.pid ?? 0
  process.kill(former, 'SIGKILL')
  await replaced(proxy, former)
  expect(await statusOf()).toBe(403)
  expect(new Set(asked)).toEqual(new Set(['/internal/sandboxes/i1/wake']))
  api.closeAllConnections()
  api.close()
})

/** The rows of an installation with one sandbox that is paused and that traffic resumes. */
async function insertPausedSandbox(url: string): Promise<void> {
  await using database = new Database({ url, applicationName: 'test', log: silentLogger() })
  const { db } = database
  const [teamId, buildId] = [randomUUID(), randomUUID()]
  await db
    .insertInto('server_setting')
    .values({ name: TOKEN_SEED_SETTING, value: 'ab'.repeat(32) })
    .execute()
  await db.insertInto('team').values({ id: teamId, name: 't', slug: 't', email: 't@x' }).execute()
  await db.insertInto('template').values({ template_id: 't1', team_id: teamId, source: 'template' }).execute()
  const image = { image: 'x', cpu_count: 1, memory_mib: 512, disk_mib: 0, default_user: 'user', default_workdir: '/' }
  await db
    .insertInto('build')
    .values({ build_id: buildId, template_id: 't1', status: 'ready', ...image })
    .execute()
  const now = new Date()
  const times = { started_at: now, expires_at: now, paused_at: now }
  const paused = { ...times, state: 'paused', pause_keep: 'memory', pause_handle: '{}', auto_resume: true } as const
  await db
    .insertInto('sandbox')
    .values({ sandbox_id: 'i1', incarnation: 1, team_id: teamId, template_id: 't1', build_id: buildId, is_secure: true, ...paused })
    .execute()
}

it('ends within its grace period even when it does not react', async () => {
  const proxy = await ChildSupervisor.start(options({ graceMs: 100 }))
  const pid = proxy.pid ?? 0
  process.kill(pid, 'SIGSTOP')
  await proxy[Symbol.asyncDispose]()
  expect(commandLine(pid)).toEqual([])
})
