import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { request } from 'node:http'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MAX_UPLOAD_BYTES } from '@sandyard/dashboard-contract/limits'
import { createWorld, waitFor, type Server, type World } from '../support/control-plane.ts'
import { Browser, ORIGIN } from '../support/dashboard-browser.ts'
import { seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let ours: Party
let browser: Browser
let stranger: Browser
let port: number
let volumeId: string
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ capabilities: { mounts: true } })
  ours = await seedParty(world, 'Ours')
  const theirs = await seedParty(world, 'Theirs')
  browser = await new Browser(api).logIn({ key: ours.apiKey })
  stranger = await new Browser(api).logIn({ key: theirs.apiKey })
  port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port)
  const made = await api.call('POST', '/volumes', { apiKey: ours.apiKey, body: { name: 'data' } })
  volumeId = made.body.volumeID
})
afterAll(() => world[Symbol.asyncDispose]())

const filesOf = (path: string, rest = '', of = volumeId): string => `/api/volumes/${of}/files${rest}?path=${encodeURIComponent(path)}`
const post = (rest: string, path: string, by = browser) => by.call('POST', `/api/volumes/${volumeId}/files/${rest}`, { body: { path } })

interface Sent {
  readonly status: number
  readonly text: string
}

/** Uploads over a connection, as a browser does. A body that is no Buffer is sent in chunks, without its length. */
function put(
  path: string,
  body: Buffer | readonly Buffer[],
  { by = browser, length }: { by?: Browser; length?: number } = {},
): Promise<Sent> {
  const { promise, resolve, reject } = Promise.withResolvers<Sent>()
  const declared = length ?? (Buffer.isBuffer(body) ? body.length : undefined)
  const headers = {
    host: new URL(ORIGIN).host,
    origin: ORIGIN,
    cookie: by.cookie,
    'content-type': 'application/octet-stream',
    ...(declared !== undefined && { 'content-length': declared }),
  }
  const sending = request({ host: '127.0.0.1', port, method: 'PUT', path: `/dashboard${filesOf(path, '/content')}`, headers })
  sending.on('error', reject).on('response', (answer) => {
    let text = ''
    answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
    answer.on('end', () => {
      resolve({ status: answer.statusCode ?? 0, text })
      sending.destroy()
    })
  })
  for (const part of Buffer.isBuffer(body) ? [body] : body) sending.write(part)
  if (length === undefined) sending.end()
  return promise
}

it('lists, uploads, downloads and removes what is in a volume', async () => {
  expect(await post('folder', '/docs')).toMatchObject({ status: 200, body: { name: 'docs', path: '/docs', kind: 'directory' } })
  expect((await post('folder', '/docs')).status).toBe(409)
  const stored = await put('/docs/a ü.txt', Buffer.from('hello'))
  expect(stored.status, stored.text).toBe(200)
  expect(JSON.parse(stored.text)).toMatchObject({ name: 'a ü.txt', path: '/docs/a ü.txt', kind: 'file', bytes: 5, mode: '0666' })
  const listed = await browser.call('GET', filesOf('/docs'))
  expect(listed, listed.text).toMatchObject({ status: 200, body: { entries: [{ name: 'a ü.txt', bytes: 5 }], isCut: false } })
  expect(Date.parse(listed.body.entries[0].modifiedAt)).toBeGreaterThan(Date.now() - 60_000)
  const read = await browser.call('GET', filesOf('/docs/a ü.txt', '/content'))
  expect(read).toMatchObject({ status: 200, text: 'hello' })
  expect(read.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': '5',
    'content-security-policy': 'sandbox',
    'content-disposition': "attachment; filename*=UTF-8''a%20%C3%BC.txt",
  })
  expect((await post('remove', '/docs')).status).toBe(204)
  expect((await post('remove', '/docs')).status).toBe(404)
  expect((await post('remove', '/')).status).toBe(400)
  expect((await browser.call('GET', filesOf('/docs'))).status).toBe(404)
  expect((await browser.call('GET', filesOf('/gone', '/content'))).status).toBe(404)
  expect((await browser.call('GET', filesOf('relative'))).status).toBe(400)
})

it('replaces a file, which keeps its mode, also by an upload without a length', async () => {
  await put('/script', Buffer.from('one'))
  const token = (await api.call('GET', `/volumes/${volumeId}`, { apiKey: ours.apiKey })).body.token
  const headers = { authorization: `Bearer ${token}` }
  const changed = await api.call('PATCH', `/volumecontent/${volumeId}/path?path=/script`, { apiKey: null, headers, body: { mode: 0o755 } })
  expect(changed.status, changed.text).toBe(200)
  const again = await put('/script', [Buffer.from('tw'), Buffer.from('o')])
  expect([again.status, JSON.parse(again.text).mode]).toEqual([200, '0755'])
  expect((await browser.call('GET', filesOf('/script', '/content'))).text).toBe('two')
})

it('cuts the listing of a large folder, and says so', async () => {
  const folder = world.engine.volumes.pathOf(`fake/${volumeId}`)
  await mkdir(`${folder}/many`)
  await promisify(execFile)('sh', ['-c', 'cd "$1" && seq -f %05g 0 5000 | xargs touch', 'sh', `${folder}/many`])
  const { body } = await browser.call('GET', filesOf('/many'))
  expect([body.entries.length, body.entries.at(-1).name, body.isCut]).toEqual([5000, '04999', true])
})

it('refuses volumes of other teams, changes by keys that only read, and a blocked team', async () => {
  await put('/mine', Buffer.from('mine'))
  for (const path of [filesOf('/'), filesOf('/mine', '/content')]) {
    expect((await stranger.call('GET', path)).status, path).toBe(404)
    expect((await browser.call('GET', path)).status, path).toBe(200)
  }
  for (const operation of ['folder', 'remove']) expect((await post(operation, '/mine', stranger)).status, operation).toBe(404)
  expect((await put('/mine', Buffer.from('theirs'), { by: stranger })).status).toBe(404)
  const made = await browser.call('POST', '/api/wire/api-keys', { body: { name: 'reads', scope: 'read' } })
  expect(made.status, made.text).toBe(201)
  const reader = await new Browser(api).logIn({ key: made.body.key })
  expect((await reader.call('GET', filesOf('/mine', '/content'))).text).toBe('mine')
  for (const operation of ['folder', 'remove']) expect((await post(operation, '/mine', reader)).status, operation).toBe(403)
  expect((await put('/mine', Buffer.from('read'), { by: reader })).status).toBe(403)
  const { db } = world.database
  await db.updateTable('team').set({ is_blocked: true }).where('id', '=', ours.teamId).execute()
  expect((await browser.call('GET', filesOf('/mine', '/content'))).status).toBe(403)
  await db.updateTable('team').set({ is_blocked: false }).where('id', '=', ours.teamId).execute()
  expect((await browser.call('GET', filesOf('/mine', '/content'))).text).toBe('mine')
})

it('refuses uploads that are too large for the dashboard or for what the team may store', async () => {
  expect((await put('/huge', Buffer.from('x'), { length: MAX_UPLOAD_BYTES + 1 })).status).toBe(413)
  const { db } = world.database
  await db.updateTable('team').set({ max_stored_bytes: 1000 }).where('id', '=', ours.teamId).execute()
  expect((await put('/big', Buffer.alloc(2000))).status).toBe(507)
  expect((await put('/big', [Buffer.alloc(1500), Buffer.alloc(500)])).status).toBe(507)
  expect((await browser.call('GET', filesOf('/big', '/content'))).status).toBe(404)
  expect((await put('/small', Buffer.alloc(100))).status).toBe(200)
  const reserved = async (): Promise<number> => (await db.selectFrom('volume_upload').selectAll().execute()).length
  await waitFor('nothing to be reserved', async () => (await reserved()) === 0)
})

it('serves as many transfers of a team at once as the limit says', async () => {
  await put('/file', Buffer.from('x'))
  const { ctx } = api
  const held = Array.from({ length: 16 }, () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const answer = { destroyed: false, once: (_name: string, onClose: () => void) => void promise.then(onClose) }
    ctx.transfers.take(ours.teamId, answer as never)
    return resolve
  })
  expect((await browser.call('GET', filesOf('/file', '/content'))).status).toBe(429)
  expect((await stranger.call('GET', filesOf('/file', '/content'))).status).toBe(404)
  for (const release of held) release()
  await waitFor('a free slot', async () => (await browser.call('GET', filesOf('/file', '/content'))).status === 200)
})
