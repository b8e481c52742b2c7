import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { answerJson, startStandInApi, type StandInApi } from './support/stand-in-api.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const lines: Record<string, unknown>[] = []
const log = createLogger({ name: 'test', level: 'debug', destination: { write: (line) => void lines.push(JSON.parse(line)) } })
const routes = new MemoryRoutes()
let api: StandInApi
let service: RunningService
let proxy: RunningProxy
/** The names and values of the headers of the last request, as the service got them. */
let received: readonly string[] = []

beforeAll(async () => {
  api = await startStandInApi()
  service = await startService((req, res) => {
    received = req.rawHeaders
    res.end('served')
  })
  proxy = await startProxy(routes, { apiInternalUrl: api.url }, log)
  const endpoint = { host: '127.0.0.1', daemonPort: service.port }
  routes.put({ sandboxId: 'i1', incarnation: 1, state: 'running', startedAt: 1, endpoint })
  routes.put({ sandboxId: 'i2', incarnation: 1, state: 'paused', endpoint, wakes: true })
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

/** Sends the lines and returns the whole answer. */
async function send(...head: readonly string[]): Promise<string> {
  using client = new RawClient(proxy.port)
  const isSaid = head.some((line) => line.startsWith('Connection:'))
  client.send([...head, ...(isSaid ? [] : ['Connection: close'])])
  await client.closed()
  return client.received
}

describe('an answer of the proxy itself', () => {
  it.each([
    ['for an unknown sandbox', ['GET / HTTP/1.1', 'Host: 3000-i9.x'], 502],
    ['for an invalid host', ['GET / HTTP/1.1', 'Host: nowhere.test'], 400],
    ['for a reserved route', ['POST /init HTTP/1.1', 'Host: 49983-i1.x'], 404],
    ['to an upgrade', ['GET / HTTP/1.1', 'Host: 3000-i9.x', 'Connection: Upgrade', 'Upgrade: websocket'], 502],
    ['to a tunnel', ['CONNECT a:1 HTTP/1.1', 'Host: a:1'], 405],
    ['to a health check', ['GET /health HTTP/1.1', 'Host: localhost'], 200],
  ] as const)('has the id of the request: %s', async (_, head, status) => {
    const answer = await send(...head, 'X-Request-ID: mine')
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toMatch(/\r\nX-Request-ID: mine\r\n/)
    expect(await send(...head, 'X-Request-ID: not "safe"')).toMatch(/\r\nX-Request-ID: [a-z0-9]{16}\r\n/)
  })

  it('has an id when the request is not HTTP', async () => {
    expect(await send('broken')).toMatch(/^HTTP\/1\.1 400 .*\r\nX-Request-ID: [a-z0-9]{16}\r\n/s)
  })
})

describe('a forwarded request', () => {
  it.each([['X-Request-ID: mine'], ['x-request-id: not "safe"'], []])('gets and loses no header: %s', async (...own) => {
    const answer = await send('GET / HTTP/1.1', 'Host: 49983-i1.x', ...own)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).not.toMatch(/x-request-id/i)
    const ids = received.flatMap((name, at) => (at % 2 === 0 && /^x-request-id$/i.test(name) ? [`${name}: ${received[at + 1]}`] : []))
    expect(ids).toEqual(own)
  })

  it('tells its id to the control plane that resumes its sandbox, and to the log', async () => {
    const asked: unknown[] = []
    api.handle = (req, res) => {
      asked.push(req.headers['x-request-id'])
      answerJson(res, 500)
    }
    expect(await send('GET / HTTP/1.1', 'Host: 49983-i2.x', 'X-Request-ID: wakes')).toMatch(/^HTTP\/1\.1 502 /)
    expect(asked).toEqual(['wakes'])
    const failed = (): boolean => lines.some(({ requestId, msg }) => requestId === 'wakes' && String(msg).includes('could not be asked'))
    await until('the line of the failed call', failed)
  })
})
