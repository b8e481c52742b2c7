import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { ProxySource } from '../src/routes/route.ts'
import { MemoryRoutes } from './support/memory-routes.ts'
import { signUrl } from './support/sign-url.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'

let routes: MemoryRoutes
let service: RunningService
let proxy: RunningProxy

/** The stand-in for the daemon answers with the request that it received. */
function echo(req: IncomingMessage): string {
  return `${req.method} ${req.url}`
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

function put(sandboxId: string, state: SandboxState = 'running', daemonPort = service.port): void {
  routes.put({ sandboxId, incarnation: 1, state, endpoint: { host: '127.0.0.1', daemonPort } })
}

async function ask(path: string, init?: RequestInit): Promise<{ status: number; text: string; headers: Headers }> {
  const answer = await fetch(proxy.url + path, init)
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}

const invalid = { status: 401, text: '{"code":401,"message":"invalid signature"}' }

describe('[proxy signed URL]', () => {
  it('is forwarded to the sandbox whose token has signed it', async () => {
    await using other = await startService((req, res) => res.end(`other: ${echo(req)}`))
    put('i1')
    put('i2', 'running', other.port)
    for (const expiration of [undefined, 1, 9_999_999_999]) {
      const [one, two] = [signUrl('i1', { path: 'ä b+c', expiration }), signUrl('i2', { path: 'ä b+c', expiration })] as const
      expect(await ask(one)).toMatchObject({ status: 200, text: `GET ${one}` })
      expect(await ask(two)).toMatchObject({ status: 200, text: `other: GET ${two}` })
    }
    const upload = signUrl('i1', { path: 'up', operation: 'write' })
    expect(await ask(upload, { method: 'POST', body: 'x'.repeat(100_000) })).toMatchObject({ status: 200, text: `POST ${upload}` })
  })

  it('is refused with the text of the daemon when no sandbox has signed it, readable for scripts of any page', async () => {
    put('i1')
    const url = signUrl('i1', { path: 'f' })
    const refused = [
      url.replace('path=f', 'path=g'),
      url.replace('username=user', 'username=root'),
      `${url}&signature_expiration=99999999999`,
      signUrl('i2', { path: 'f' }),
      '/files?path=f&signature=',
      '/files?path=f&signature=garbage',
    ]
    for (const path of refused) {
      const answer = await ask(path, { headers: { origin: 'https://app.example' } })
      expect(answer, path).toMatchObject(invalid)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    }
    expect(await ask(url, { method: 'POST', body: 'x' })).toMatchObject(invalid)
  })

  it('allows the preflight of a browser', async () => {
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    }
    const answer = await ask(signUrl('i1', { path: 'f', operation: 'write' }), { method: 'OPTIONS', headers })
    expect(answer.status).toBe(204)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type',
    })
  })

  it('refuses other requests that name no sandbox', async () => {
    put('i1')
    const url = signUrl('i1', { path: 'f' })
    const text = 'Invalid host: it names no sandbox, and the request has neither a signature nor an access token'
    expect(await ask('/files?path=f')).toMatchObject({ status: 400, text })
    expect(await ask(url, { method: 'HEAD' })).toMatchObject({ status: 400 })
    expect(await ask(url, { method: 'DELETE' })).toMatchObject({ status: 400, text })
    expect(await ask(url.replace('/files', '/files/'))).toMatchObject({ status: 400, text: 'Invalid host' })
    expect(await ask(url.replace('/files', '/files/compose'))).toMatchObject({ status: 400, text: 'Invalid host' })
    expect(await ask(url, { headers: { 'e2b-sandbox-id': 'i1' } })).toMatchObject({ status: 400, text: 'missing header E2b-Sandbox-Port' })
    expect(routes.securedReads).toBe(0)
  })

  it('follows sandboxes that start, pause, resume and end', async () => {
    const url = signUrl('i1', { path: 'f' })
    const notFound = { status: 502, text: '{"sandboxId":"i1","message":"The sandbox was not found","code":502}' }
    expect(await ask(url)).toMatchObject(invalid)
    put('i1')
    expect(await ask(url)).toMatchObject({ status: 200 })
    put('i1', 'paused')
    expect(await ask(url)).toMatchObject(notFound)
    put('i1')
    expect(await ask(url)).toMatchObject({ status: 200 })
    routes.remove('i1')
    expect(await ask(url)).toMatchObject(invalid)
  })

  it('finds a sandbox whose start was not announced', async () => {
    put('i1')
    expect(await ask(signUrl('i1', { path: 'f' }))).toMatchObject({ status: 200 })
    routes.isSilent = true
    put('i2')
    expect(await ask(signUrl('i2', { path: 'f' }))).toMatchObject({ status: 200 })
  })

  it('reads the sandboxes once for many URLs, with and without a match', async () => {
    for (let i = 0; i < 500; i++) put(`i${i}`)
    const urls = Array.from({ length: 60 }, (_, i) => signUrl(`i${i * 10}`, { path: `f${i}` }))
    const answers = await Promise.all(urls.map((url) => ask(url)))
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 50 }, () => 200),
      ...Array.from({ length: 10 }, () => 401),
    ])
    expect(routes.securedReads).toBeLessThan(12)
  })

  it('refuses lookups over the cap, and continues to serve others', async () => {
    for (let i = 0; i < 1000; i++) put(`i${i}`)
    const known = signUrl('i7', { path: 'known' })
    expect(await ask(known)).toMatchObject({ status: 200 })
    const flood = Array.from({ length: 400 }, (_, i) => ask(signUrl('gone', { path: `f${i}` })))
    expect(await ask(known)).toMatchObject({ status: 200 })
    const statuses = new Set((await Promise.all(flood)).map(({ status }) => status))
    expect(statuses).toEqual(new Set([401, 429]))
    expect(await ask(signUrl('i8', { path: 'f' }))).toMatchObject({ status: 200 })
  })

  it('is forwarded when its sandbox changes while the search waits for others', async () => {
    for (let i = 0; i < 3000; i++) put(`i${i}`)
    expect(await ask(signUrl('i7', { path: 'f' }))).toMatchObject({ status: 200 })
    routes.isSilent = true
    put('late')
    routes.isSilent = false
    const reads = routes.securedReads
    // It is not in the list yet, so a second search follows, behind those of the others.
    const late = ask(signUrl('late', { path: 'f' }))
    const others = Array.from({ length: 10 }, (_, i) => ask(signUrl('unknown', { path: `f${i}` })))
    await expect.poll(() => routes.securedReads, { interval: 1 }).toBeGreaterThan(reads)
    put('late')
    expect(await late).toMatchObject({ status: 200 })
    for (const other of others) expect(await other).toMatchObject(invalid)
  })

  it('gets 503 when the sandboxes cannot be read', async () => {
    put('i1')
    const failing: ProxySource = {
      read: (sandboxIds) => routes.read(sandboxIds),
      readSecured: () => Promise.reject(new Error('no database')),
      readTokenSeed: () => routes.readTokenSeed(),
      watch: (watcher) => routes.watch(watcher),
    }
    await using lame = await startProxy(failing)
    const answer = await fetch(lame.url + signUrl('i1', { path: 'f' }))
    expect(answer.status).toBe(503)
    expect(await answer.json()).toEqual({ message: 'The sandbox cannot be reached right now. Try again in a moment.', code: 503 })
  })
})
