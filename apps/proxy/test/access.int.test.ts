import { once } from 'node:events'
import { findFreePort } from '@sandyard/kit/net/free-port'
import type { IncomingMessage } from 'node:http'
import { sandboxTrafficToken } from '@sandyard/db/sandbox-token'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { MemoryRoutes, TOKEN_SEED } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'

const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: RunningService
let closedPort: number
const token = sandboxTrafficToken(TOKEN_SEED, 'iprivate')
const upgraded: IncomingMessage[] = []

beforeAll(async () => {
  service = await startService((req, res) => res.end(JSON.stringify(req.headers)))
  const sockets = new WebSocketServer({ server: service.server })
  sockets.on('connection', (_, req) => upgraded.push(req))
  proxy = await startProxy(routes)
  closedPort = await findFreePort()
  const endpoint = { host: '127.0.0.1', daemonPort: service.port }
  const other = { host: '127.0.0.1', daemonPort: 9 }
  routes.put({ sandboxId: 'iprivate', incarnation: 1, state: 'running', endpoint: other, isSecure: true, isPublic: false })
  routes.put({ sandboxId: 'idaemon', incarnation: 1, state: 'running', endpoint, isSecure: true, isPublic: false, maskHost: 'masked' })
  routes.put({ sandboxId: 'imasked', incarnation: 1, state: 'running', endpoint: other, maskHost: 'app-${PORT}.test:${PORT}' })
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const ask = (sandboxId: string, port: number, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(proxy.url, { headers: { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': String(port), ...headers } })

const refused = (what: string) => ({
  sandboxId: 'iprivate',
  message: `Sandbox is secured with traffic access token. ${what}`,
  code: 403,
})
const missing = refused("Token header 'e2b-traffic-access-token' is missing")
const invalid = refused("Provided token in header 'e2b-traffic-access-token' is invalid")

describe('[proxy traffic token] the ports of a sandbox without public traffic (control-plane.md 18.2)', () => {
  it.each<[string, Record<string, string>, object]>([
    ['no token', {}, missing],
    ['an empty token', { 'e2b-traffic-access-token': '' }, missing],
    ['a wrong token', { 'e2b-traffic-access-token': 'x' }, invalid],
    ['the token of another sandbox', { 'e2b-traffic-access-token': sandboxTrafficToken(TOKEN_SEED, 'iother') }, invalid],
    ['the token twice', { 'e2b-traffic-access-token': `${token}, ${token}` }, invalid],
  ])('are closed to a request with %s, before the port is tried', async (_, headers, body) => {
    const before = service.accepted.length
    for (const port of [service.port, closedPort, 9]) {
      const answer = await ask('iprivate', port, headers)
      expect([answer.status, await answer.json()]).toEqual([403, body])
    }
    expect(service.accepted.length).toBe(before)
  })

  it('are open to a request with the token, which is forwarded', async () => {
    const answer = await ask('iprivate', service.port, { 'E2B-Traffic-Access-Token': token })
    expect(await answer.json()).toMatchObject({ 'e2b-traffic-access-token': token })
    const closed = await ask('iprivate', closedPort, { 'e2b-traffic-access-token': token })
    expect([closed.status, await closed.json()]).toMatchObject([502, { message: 'The sandbox is running but port is not open' }])
  })

  it('are closed to upgrades without the token and open to those with it', async () => {
    const refusedSocket = new WebSocket(proxy.url, { headers: { host: `${service.port}-iprivate.x` } })
    const [error] = (await once(refusedSocket, 'error')) as [Error]
    expect(error.message).toContain('403')
    const socket = new WebSocket(proxy.url, { headers: { host: `${service.port}-iprivate.x`, 'e2b-traffic-access-token': token } })
    await once(socket, 'open')
    expect(upgraded.at(-1)?.headers['e2b-traffic-access-token']).toBe(token)
    socket.terminate()
  })

  it('ask for the token before the limit of connections', async () => {
    await using narrow = await startProxy(routes, { maxSandboxConnections: 1, maxSandboxClientConnections: 1 })
    using open = new RawClient(narrow.port)
    const head = ['GET / HTTP/1.1', `Host: ${service.port}-iprivate.x`]
    const raw = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']
    open.send([...head, ...raw, `e2b-traffic-access-token: ${token}`])
    await open.until('101 Switching Protocols')
    for (const [presented, status] of [
      ['x', 403],
      [token, 429],
    ]) {
      using client = new RawClient(narrow.port)
      client.send([...head, `e2b-traffic-access-token: ${presented}`, 'Connection: close'])
      await client.closed()
      expect(client.received.startsWith(`HTTP/1.1 ${status} `)).toBe(true)
    }
  })

  it('include neither the port of the daemon nor those of public sandboxes', async () => {
    expect((await ask('idaemon', 49_983)).status).toBe(200)
    expect((await ask('imasked', service.port)).status).toBe(200)
  })

  it.each([
    ['Missing Traffic Access Token', []],
    ['Invalid Traffic Access Token', ['E2b-Traffic-Access-Token: x']],
  ])('show a page to a browser: %s', async (title, presented) => {
    using client = new RawClient(proxy.port)
    const headers = ['User-Agent: Mozilla/5.0 Firefox/140.0', 'Accept: text/html', ...presented, 'Connection: close']
    client.send(['GET / HTTP/1.1', `Host: ${service.port}-iprivate.x`, ...headers])
    await client.closed()
    expect(client.received).toMatch(/^HTTP\/1\.1 403 Forbidden\r\nContent-Type: text\/html; charset=utf-8\r\n/)
    const page = client.received.slice(client.received.indexOf('\r\n\r\n') + 4)
    expect(page).toMatch(/^<html[\s\S]*<\/html>$/)
    expect(page).toContain(title)
    expect(page).toContain('iprivate')
  })

  it('answer 503 when the token cannot be derived, never the service', async () => {
    const own = new MemoryRoutes()
    own.put({ sandboxId: 'i1', incarnation: 1, state: 'running', endpoint: { host: '127.0.0.1', daemonPort: 9 }, isPublic: false })
    own.readTokenSeed = () => Promise.reject(new Error('no database'))
    await using broken = await startProxy(own)
    const headers = { 'E2b-Sandbox-Id': 'i1', 'E2b-Sandbox-Port': String(service.port), 'e2b-traffic-access-token': token }
    expect((await fetch(broken.url, { headers })).status).toBe(503)
  })
})

describe('[proxy masked host] maskRequestHost (control-plane.md 18.7)', () => {
  it('replaces Host with the mask and the port, and X-Forwarded-Host holds the original', async () => {
    const masked = `app-${service.port}.test:${service.port}`
    using client = new RawClient(proxy.port)
    client.send(['GET / HTTP/1.1', `Host: ${service.port}-imasked.x:3002`, 'Connection: close'])
    await client.closed()
    expect(client.received).toContain(`"host":"${masked}"`)
    expect(client.received).toContain(`"x-forwarded-host":"${service.port}-imasked.x:3002"`)
  })

  it('applies to upgrades', async () => {
    const socket = new WebSocket(proxy.url, { headers: { host: `${service.port}-imasked.x` } })
    await once(socket, 'open')
    expect(upgraded.at(-1)?.headers).toMatchObject({
      host: `app-${service.port}.test:${service.port}`,
      'x-forwarded-host': `${service.port}-imasked.x`,
    })
    socket.terminate()
  })

  it('does not apply to the daemon', async () => {
    using client = new RawClient(proxy.port)
    client.send(['GET / HTTP/1.1', 'Host: 49983-idaemon.x', 'Connection: close'])
    await client.closed()
    expect(client.received).toContain('"host":"49983-idaemon.x"')
  })
})
