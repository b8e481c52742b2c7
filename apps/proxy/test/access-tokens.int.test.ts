import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import { MemoryRoutes, TOKEN_SEED } from './support/memory-routes.ts'
import { signUrl } from './support/sign-url.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'

let routes: MemoryRoutes
let service: RunningService
let proxy: RunningProxy

/** The stand-in for the daemon answers with the request that it received. */
function echo(req: IncomingMessage): string {
  return `${req.method} ${req.url} ${String(req.headers['x-access-token']).slice(0, 8)}`
}

beforeAll(async () => {
  service = await startService((req, res) => req.resume().on('end', () => res.end(echo(req))))
})
beforeEach(async () => {
  routes = new MemoryRoutes()
  proxy = await startProxy(routes)
  return () => proxy[Symbol.asyncDispose]()
})
afterAll(() => service[Symbol.asyncDispose]())

const tokenOf = (sandboxId: string): string => sandboxAccessToken(TOKEN_SEED, sandboxId)

async function ask(
  path: string,
  token: string,
  init: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; text: string }> {
  const answer = await fetch(proxy.url + path, { ...init, headers: { ...init.headers, 'x-access-token': token } })
  return { status: answer.status, text: await answer.text() }
}

const notFound = { status: 502, text: '{"message":"The sandbox was not found","code":502}' }

describe('a request that names no sandbox, with X-Access-Token', () => {
  it('is forwarded to the daemon of the sandbox with this token', async () => {
    await using other = await startService((req, res) => res.end(`other: ${echo(req)}`))
    routes.run('i1', service.port)
    routes.run('i2', other.port)
    const [one, two] = [tokenOf('i1'), tokenOf('i2')]
    expect(await ask('/files?path=a', one)).toEqual({ status: 200, text: `GET /files?path=a ${one.slice(0, 8)}` })
    expect(await ask('/files?path=a', two)).toEqual({ status: 200, text: `other: GET /files?path=a ${two.slice(0, 8)}` })
    expect(await ask('/health', two)).toEqual({ status: 200, text: `other: GET /health ${two.slice(0, 8)}` })
    const start = { method: 'POST', body: 'x'.repeat(100_000) }
    expect(await ask('/process.Process/Start', one, start)).toMatchObject({ status: 200, text: expect.stringMatching(/^POST \/process/) })
  })

  it('gets the answer for a sandbox that does not run when no sandbox has the token', async () => {
    routes.run('i1', service.port)
    const right = tokenOf('i1')
    for (const token of [tokenOf('i2'), right.toUpperCase(), right.slice(1), `${right}0`, 'é', ''])
      expect(await ask('/files?path=a', token), token).toEqual(notFound)
    routes.remove('i1')
    expect(await ask('/health', right)).toEqual(notFound)
  })

  it('does not reach the routes of the control plane', async () => {
    routes.run('i1', service.port)
    expect(await ask('/init', tokenOf('i1'), { method: 'POST', body: '{}' })).toMatchObject({ status: 404 })
  })

  it('is for the sandbox of its host or its headers where these name one', async () => {
    await using other = await startService((req, res) => res.end(`other: ${echo(req)}`))
    routes.run('i1', service.port)
    routes.run('i2', other.port)
    const headers = { 'e2b-sandbox-id': 'i2', 'e2b-sandbox-port': '49983' }
    expect((await ask('/files?path=a', tokenOf('i1'), { headers })).text).toMatch(/^other/)
    expect(await ask('/files?path=a', tokenOf('i1'), { headers: { 'e2b-sandbox-port': '49983' } })).toMatchObject({
      status: 400,
      text: 'missing header E2b-Sandbox-Id',
    })
  })

  it('may be sent by a script of any page: the preflight of the browser is answered', async () => {
    const preflight = (names: string): Promise<Response> => {
      const headers = {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': names,
      }
      return fetch(`${proxy.url}/health`, { method: 'OPTIONS', headers })
    }
    const allowed = await preflight('content-type, X-Access-Token')
    expect(allowed.status).toBe(204)
    expect(allowed.headers.get('access-control-allow-headers')).toBe('content-type, X-Access-Token')
    expect((await preflight('content-type')).status).toBe(400)
  })

  it('is found among many while sandboxes start and end, also while searches for signatures wait', async () => {
    for (let i = 0; i < 3000; i += 1) routes.run(`i${i}`, service.port)
    const others = Array.from({ length: 20 }, (_, i) => ask(signUrl('unknown', { path: `f${i}` }), ''))
    for (const sandboxId of ['i0', 'i2999', 'new']) {
      routes.run(sandboxId, service.port)
      expect((await ask('/files?path=a', tokenOf(sandboxId))).status, sandboxId).toBe(200)
    }
    routes.remove('i0')
    expect(await ask('/files?path=a', tokenOf('i0'))).toEqual(notFound)
    for (const other of others) expect((await other).status).toBe(401)
  })

  it('costs no search while its form is wrong, and one for many requests of a client', async () => {
    routes.run('i1', service.port)
    await ask('/files?path=a', 'x')
    expect(routes.securedReads).toBe(0)
    for (let request = 0; request < 20; request += 1) expect((await ask('/files?path=a', tokenOf('i1'))).status).toBe(200)
    expect(routes.securedReads).toBe(1)
  })
})
