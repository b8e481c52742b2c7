import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Server, type World } from '../support/control-plane.ts'
import { Browser, ORIGIN } from '../support/dashboard-browser.ts'

let world: World
let api: Server
let browser: Browser
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_API_URL: 'https://api.example.com', SANDYARD_DOMAIN: 'example.com' } })
  browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
})
afterAll(() => world[Symbol.asyncDispose]())

/** What pages of others, and of sandboxes of this very server, have as their origin. */
const FOREIGN = [
  null,
  'null',
  'http://dash.localhost:3002',
  'http://3000-iabc.dash.localhost:3000',
  'https://dash.localhost:3000',
  'http://evil.test',
  '',
]

describe('a request that may change something', () => {
  it.each(FOREIGN)('is refused with the origin %j, and changes nothing', async (origin) => {
    for (const path of ['/api/me/team', '/api/wire/sandboxes', '/api/login', '/api/logout']) {
      const answer = await browser.call('POST', path, { body: { templateID: 'base' }, origin })
      expect(answer.status, path).toBe(403)
      expect(answer.headers['set-cookie'], path).toBeUndefined()
    }
    expect((await browser.call('GET', '/api/me')).status).toBe(200)
    expect((await browser.call('GET', '/api/wire/v2/sandboxes')).body).toEqual([])
  })

  it('passes with our own origin', async () => {
    const answer = await browser.call('PUT', '/api/wire/sandboxes/iabc/network', { body: {} })
    expect(answer.status).toBe(404)
  })

  it('passes by the configured address, whose scheme a TLS proxy may not pass on', async () => {
    const headers = { host: 'api.example.com' }
    const body = { key: world.credentials.apiKey }
    const other = await new Browser(api).call('POST', '/api/login', { body, headers, origin: 'https://api.example.com' })
    expect(other.status, other.text).toBe(200)
    expect(other.headers['set-cookie']).toMatch(/^__Host-sandyard=/)
    expect((await new Browser(api).call('POST', '/api/login', { body, headers, origin: 'https://example.com' })).status).toBe(403)
  })

  it('is refused under a name of a sandbox, and under an unknown name', async () => {
    const body = { key: world.credentials.apiKey }
    for (const host of ['3000-iabc.example.com', 'evil.test']) {
      const answer = await new Browser(api).call('POST', '/api/login', { body, headers: { host }, origin: `http://${host}` })
      expect(answer.status, host).toBe(403)
      expect((await new Browser(api).call('GET', '/', { headers: { host } })).status, host).toBe(403)
    }
  })
})

describe('a read', () => {
  it('needs no origin, because browsers send none, but a session', async () => {
    expect((await browser.call('GET', '/api/me', { origin: null })).status).toBe(200)
    expect((await browser.call('GET', '/api/me', { origin: null, cookie: '' })).status).toBe(401)
  })

  it.each(['/api/me', '/api/wire/v2/sandboxes', '/', '/api/unknown'])('has no CORS headers and no preflight: %s', async (path) => {
    const answer = await browser.call('GET', path, { origin: 'http://evil.test' })
    const cors = (headers: object) => Object.keys(headers).filter((name) => name.startsWith('access-control'))
    expect(cors(answer.headers)).toEqual([])
    expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' })
    const preflight = await browser.call('OPTIONS', path, {
      origin: 'http://evil.test',
      headers: { 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, cors(preflight.headers)]).toEqual([404, []])
    const allowed = await api.call('GET', '/v2/sandboxes', { headers: { origin: ORIGIN } })
    expect(allowed.headers['access-control-allow-origin']).toBe('*')
  })
})
