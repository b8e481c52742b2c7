import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'

const SCRIPT = 'console.log("a")'.repeat(100)

let world: World
let api: Server
let browser: Browser
let dist: string
beforeAll(async () => {
  dist = await mkdtemp(join(tmpdir(), 'sandyard-test-dist-'))
  await mkdir(join(dist, 'assets'))
  await writeFile(join(dist, 'index.html'), '<meta property="csp-nonce" nonce="__STYLE_NONCE__"><meta content="__ASSETS__">')
  await writeFile(join(dist, 'manifest.json'), '{}')
  await writeFile(join(dist, 'favicon.svg'), '<svg/>')
  await writeFile(join(dist, 'assets/index-abc.js'), SCRIPT)
  await writeFile(join(dist, 'assets/index-abc.js.gz'), gzipSync(SCRIPT))
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_DASHBOARD_DIST: dist } })
  browser = new Browser(api)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await rm(dist, { recursive: true })
})

it('serves the page with a policy whose nonce is that of the page, and another one each time', async () => {
  const [first, second] = [await browser.call('GET', '/'), await browser.call('GET', '/')]
  const nonces = [first, second].map(({ text, headers }) => {
    const nonce = /nonce="([\w+/=]{24})"/.exec(text)?.[1]
    expect(headers['content-security-policy']).toContain(`style-src-elem 'self' 'nonce-${nonce}'`)
    return nonce
  })
  expect(nonces[0]).not.toBe(nonces[1])
  expect(first.text).toMatch(/<meta content="[0-9a-f]{16}">/)
  expect(first.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
  expect(first.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; .*trusted-types 'none'$/)
})

it('serves the page for its own routes, and nothing else for those of the API', async () => {
  const html = expect.stringContaining('csp-nonce')
  for (const path of ['/login', '/sandboxes/iabc/terminal', '/assets', '/assets/..%2findex.html', '/manifest.json']) {
    expect(await browser.call('GET', path), path).toMatchObject({ status: 200, text: html })
  }
  expect((await browser.call('GET', '')).headers['location']).toBe('/dashboard/')
  for (const path of ['/api', '/api/', '/api/unknown', '/assets/missing.js']) {
    expect(await browser.call('GET', path), path).toMatchObject({ status: 404, body: { code: 404 } })
  }
  expect((await api.call('GET', '/', { apiKey: null })).status).toBe(404)
})

it('serves assets that browsers may cache for a year, compressed when the browser accepts it', async () => {
  const packed = await browser.call('GET', '/assets/index-abc.js', { headers: { 'accept-encoding': 'gzip' } })
  expect(packed.headers).toMatchObject({
    'content-encoding': 'gzip',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': expect.stringMatching(/javascript/),
    'x-content-type-options': 'nosniff',
  })
  expect((await browser.call('GET', '/assets/index-abc.js')).text).toBe(SCRIPT)
  expect((await browser.call('GET', '/favicon.svg')).headers['content-type']).toMatch(/svg/)
})

it('says why there is no page when it is not built, and serves none when it is off', async () => {
  await rm(join(dist, 'index.html'))
  expect(await browser.call('GET', '/')).toMatchObject({ status: 503, body: { message: expect.stringMatching(/not built/) } })
  const off = await world.startServer({ env: { SANDYARD_DASHBOARD: 'false' } })
  for (const path of ['/', '/login', '/api/me', '/api/wire/v2/sandboxes'])
    expect((await new Browser(off).call('GET', path)).status, path).toBe(404)
  expect((await off.call('GET', '/v2/sandboxes')).status).toBe(200)
})
