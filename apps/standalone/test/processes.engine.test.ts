import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, expect, it } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { commandLine } from '../src/process/process-identity.ts'
import { removeServer, RunningServer } from './running-server.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'standalone-processes-'))
const servers: RunningServer[] = []

function start(environment: Record<string, string> = {}): RunningServer {
  const server = new RunningServer(dataDir, { ...process.env, ...environment })
  servers.push(server)
  return server
}

afterAll(async () => {
  for (const server of servers) await server.end('SIGTERM')
  await removeServer(dataDir, process.env['DOCKER_HOST'])
})

function isServing(url: string): Promise<true | undefined> {
  return fetch(`${url}/health`).then(
    ({ ok }) => ok || undefined,
    () => undefined,
  )
}

/** Whether a server could listen on the port now. */
function isFree(port: number): Promise<true | undefined> {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.once('error', () => resolve(undefined)).listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

it('keeps the control plane running when the proxy is killed, and starts a new proxy on the same port', async () => {
  const admin = 'admin-of-this-test'
  const server = await start({ SANDYARD_PROXY_HEAP: '200MiB', SANDYARD_API_HEAP: '700MiB', SANDYARD_ADMIN_TOKEN: admin }).ready()
  const former = server.proxyPid ?? 0
  expect(commandLine(former)).toContain('--max-old-space-size=200')
  expect(commandLine(server.pid)).toContain('--max-old-space-size=700')
  expect(commandLine(former).join(' ')).not.toContain('postgres')
  expect(readFileSync(`/proc/${former}/environ`, 'utf8')).not.toContain(admin)

  const proxyUrl = server.setting('E2B_SANDBOX_URL')
  process.kill(former, 'SIGKILL')
  const statuses = new Set<number>()
  await pollUntil({ what: 'another proxy', timeoutMs: 30_000, everyMs: 20 }, async () => {
    statuses.add((await server.call('GET', '/v2/sandboxes')).status)
    return server.proxyPid === former ? undefined : isServing(proxyUrl)
  })
  expect([...statuses]).toEqual([200])
  const metrics = await server.metrics()
  expect(metrics).toContain('sandyard_proxy_restarts_total 1')
  expect(metrics).toContain('sandyard_proxy_up 1')
  expect(metrics).toMatch(/^sandyard_proxy_process_resident_memory_bytes \d+$/m)
  expect(metrics).toMatch(/^process_resident_memory_bytes \d+$/m)

  const proxy = server.proxyPid ?? 0
  expect(await server.end('SIGINT')).toBe(0)
  expect(commandLine(proxy)).toEqual([])
  const log = readFileSync(join(dataDir, 'server.log'), 'utf8')
  expect(log).toContain('the proxy ended and is started again')
  expect(log).toMatch(/"name":"sandyard-proxy".*"msg":"listening"/)
})

it('finishes a create that is in flight at SIGTERM, and the next server finds the sandbox', async () => {
  const first = await start().ready()
  const url = first.setting('E2B_API_URL')
  const body = JSON.stringify({ templateID: 'base', timeout: 600 })
  const headers = { 'x-api-key': first.setting('E2B_API_KEY'), 'content-type': 'application/json', 'content-length': body.length }
  const create = request(`${url}/v2/sandboxes`, { method: 'POST', headers: { ...headers, expect: '100-continue' } })
  create.flushHeaders()
  await once(create, 'continue')

  const ended = first.end('SIGTERM')
  await pollUntil({ what: 'the drain', timeoutMs: 20_000, everyMs: 10 }, async () =>
    (await fetch(`${url}/ready`)).status === 503 ? true : undefined,
  )
  const late = await first.call('GET', '/v2/sandboxes')
  expect([late.status, late.headers.get('should-retry'), await late.json()]).toEqual([
    503,
    'true',
    { code: 503, message: 'The server is stopping: send the request again' },
  ])
  create.end(body)
  const [answer] = (await once(create, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(201)
  const { sandboxID } = (await json(answer)) as { sandboxID: string }
  expect(await ended).toBe(0)

  const second = await start().ready()
  const found = await second.call('GET', `/sandboxes/${sandboxID}`)
  expect([found.status, ((await found.json()) as { state: string }).state]).toEqual([200, 'running'])
  expect((await second.call('DELETE', `/sandboxes/${sandboxID}`)).status).toBe(204)
  expect(await second.end('SIGTERM')).toBe(0)
})

it('leaves no proxy behind when the server is killed, so that the port is free', async () => {
  const server = await start().ready()
  const proxy = server.proxyPid ?? 0
  const port = Number(new URL(server.setting('E2B_SANDBOX_URL')).port)
  expect(commandLine(proxy)).not.toEqual([])
  await server.end('SIGKILL')
  await pollUntil({ what: 'the end of the proxy', timeoutMs: 20_000, everyMs: 10 }, () => isFree(port))
  expect(commandLine(proxy)).toEqual([])
})
