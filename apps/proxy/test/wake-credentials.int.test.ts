import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MemoryRoutes, type Row } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { signUrl } from './support/sign-url.ts'
import { startStandInApi, type StandInApi } from './support/stand-in-api.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { accessHeader, trafficHeader } from './support/token-headers.ts'

const routes = new MemoryRoutes()
let api: StandInApi
let proxy: RunningProxy
const paused: Row = { sandboxId: 'i1', incarnation: 1, state: 'paused', endpoint: { host: '127.0.0.1', daemonPort: 9 }, wakes: true }

beforeAll(async () => {
  api = await startStandInApi()
  proxy = await startProxy(routes, { apiInternalUrl: api.url })
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})
beforeEach(() => {
  api.asked.length = 0
})

const host = 'Host: 49983-i1.x'
const notFound = '{"sandboxId":"i1","message":"The sandbox was not found","code":502}'
const refused = `{"sandboxId":"i1","message":"This sandbox can't be resumed with the credentials provided. Check your access token and try again.","code":403}`

/** The whole answer to a request. */
async function answerTo(...lines: string[]): Promise<string> {
  using client = new RawClient(proxy.port)
  client.send([...lines, 'Connection: close'])
  await client.closed()
  return client.received
}

describe('a paused sandbox', () => {
  it('that traffic does not resume is not found, and the control plane is not asked', async () => {
    routes.put({ ...paused, wakes: false })
    expect(await answerTo('GET / HTTP/1.1', host)).toContain(notFound)
    expect(api.asked).toEqual([])
  })

  it.each<[string, Partial<Row>, readonly string[], boolean]>([
    ['a public port', {}, ['GET / HTTP/1.1', 'Host: 80-i1.x'], true],
    ['the daemon of a sandbox that is not secured', {}, ['GET / HTTP/1.1', host], true],
    ['a port that is not public, without a token', { isPublic: false }, ['GET / HTTP/1.1', 'Host: 80-i1.x'], false],
    ['the same with a wrong token', { isPublic: false }, ['GET / HTTP/1.1', 'Host: 80-i1.x', 'e2b-traffic-access-token: x'], false],
    [
      'the same with the token of the daemon',
      { isPublic: false, isSecure: true },
      ['GET / HTTP/1.1', 'Host: 80-i1.x', accessHeader('i1')],
      false,
    ],
    ['the same with the token', { isPublic: false }, ['GET / HTTP/1.1', 'Host: 80-i1.x', trafficHeader('i1')], true],
    ['a secured daemon without a token', { isSecure: true }, ['GET / HTTP/1.1', host], false],
    ['the same with a wrong token', { isSecure: true }, ['GET / HTTP/1.1', host, 'X-Access-Token: x'], false],
    ['the same with the traffic token', { isSecure: true, isPublic: false }, ['GET / HTTP/1.1', host, trafficHeader('i1')], false],
    ['the same with the token', { isSecure: true }, ['GET / HTTP/1.1', host, accessHeader('i1')], true],
    ['a public port of a secured sandbox', { isSecure: true }, ['GET / HTTP/1.1', 'Host: 80-i1.x'], true],
    ['a signed URL', { isSecure: true }, [`GET ${signUrl('i1', { path: 'f' })} HTTP/1.1`, host], false],
    ['a signed URL that names no sandbox', { isSecure: true }, [`GET ${signUrl('i1', { path: 'f' })} HTTP/1.1`, 'Host: localhost'], false],
    ['a signed URL with the token', { isSecure: true }, [`GET ${signUrl('i1', { path: 'f' })} HTTP/1.1`, host, accessHeader('i1')], true],
  ])('is resumed only for credentials that the proxy checks before it asks the control plane: %s', async (_, row, lines, mayResume) => {
    routes.put({ ...paused, ...row })
    const answer = await answerTo(...lines)
    if (mayResume) expect(answer).toContain(notFound)
    else expect(answer.endsWith(refused)).toBe(true)
    expect(api.asked.length).toBe(mayResume ? 1 : 0)
  })

  it('still answers the preflight of a browser, which has no token', async () => {
    routes.put({ ...paused, isSecure: true })
    const lines = ['OPTIONS / HTTP/1.1', host, 'Origin: http://a', 'Access-Control-Request-Method: POST']
    expect(await answerTo(...lines)).toMatch(/^HTTP\/1\.1 204 /)
    expect(api.asked).toEqual([])
  })
})
