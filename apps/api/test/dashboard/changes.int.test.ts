import { afterAll, beforeAll, expect, it } from 'vitest'
import { MAX_CHANGES, MAX_ORIGINAL_BYTES } from '@sandyard/dashboard-contract/limits'
import type { FakeSandbox } from '@sandyard/runtime/fake/fake-engine'
import { createWorld, waitFor, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { seedParty } from '../support/templates.ts'

let world: World
let api: Server
let browser: Browser
let stranger: Browser
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true })
  browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
  stranger = await new Browser(api).logIn({ key: (await seedParty(world, 'Theirs')).apiKey })
})
afterAll(() => world[Symbol.asyncDispose]())

/** A sandbox of a snapshot, so that it has files of its image. */
async function create(files: Readonly<Record<string, string>> = {}): Promise<{ sandboxId: string; files: Map<string, string> }> {
  const made = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600 } })
  expect(made.status, made.text).toBe(201)
  const sandboxId: string = made.body.sandboxID
  const [key, sandbox] = [...world.engine.sandboxes].find(([, { spec }]) => spec.sandboxId === sandboxId) as [string, FakeSandbox]
  world.engine.sandboxes.set(key, { ...sandbox, original: new Map(Object.entries(files)), files: new Map(Object.entries(files)) })
  return { sandboxId, files: world.engine.sandboxes.get(key)?.files ?? new Map() }
}
const changes = (sandboxId: string, by = browser) => by.call('GET', `/api/sandboxes/${sandboxId}/changes`)
const original = (sandboxId: string, path: unknown, by = browser) =>
  by.call('POST', `/api/sandboxes/${sandboxId}/changes/original`, { body: { path } })

it('lists what has changed, also of a paused sandbox, without what the platform wrote, and reads the original file', async () => {
  const { sandboxId, files } = await create({ '/etc/motd': 'hello ü', '/etc/gone': 'was here' })
  expect(await changes(sandboxId)).toMatchObject({ status: 200, body: { changes: [], isCut: false } })
  files.set('/etc/motd', 'changed')
  files.delete('/etc/gone')
  for (const path of ['/.e2b', '/run/e2b/.E2B_SANDBOX', '/home/user/a "b"\nc', '/run/e2bx']) files.set(path, 'x')
  const listed = [
    { path: '/etc/gone', kind: 'deleted' },
    { path: '/etc/motd', kind: 'modified' },
    { path: '/home/user/a "b"\nc', kind: 'added' },
    { path: '/run/e2bx', kind: 'added' },
  ]
  expect((await changes(sandboxId)).body).toEqual({ changes: listed, isCut: false })
  const before = api.runtime.faults.calls.length
  expect(await original(sandboxId, '/etc/motd')).toMatchObject({
    status: 200,
    text: 'hello ü',
    headers: {
      'content-type': 'application/octet-stream',
      'content-security-policy': 'sandbox',
      'content-disposition': "attachment; filename*=UTF-8''motd",
      'content-length': '8',
    },
  })
  expect(await original(sandboxId, '/etc/gone')).toMatchObject({ status: 200, text: 'was here' })
  expect(api.runtime.faults.calls.slice(before)).toEqual(['readOriginal', 'readOriginal'])
  await api.call('POST', `/sandboxes/${sandboxId}/pause`)
  expect((await changes(sandboxId)).body).toEqual({ changes: listed, isCut: false })
  expect((await original(sandboxId, '/etc/motd')).status).toBe(200)
  expect((await browser.call('GET', `/api/sandboxes/${sandboxId}`)).body.state).toBe('paused')
})

it('answers what is no file with an error of its own', async () => {
  const { sandboxId } = await create({ '/large': 'x'.repeat(MAX_ORIGINAL_BYTES + 1), '/most': 'x'.repeat(MAX_ORIGINAL_BYTES) })
  expect((await original(sandboxId, '/most')).status).toBe(200)
  expect(await original(sandboxId, '/large')).toMatchObject({
    status: 413,
    body: { code: 413, message: expect.stringContaining('2097153') },
  })
  for (const path of ['/absent', '/\ud800', '/../../etc/passwd', `/${'x'.repeat(300)}`]) {
    expect(await original(sandboxId, path), path).toMatchObject({ status: 404, body: { code: 404 } })
  }
  for (const path of ['relative', '', '/\0', `/${'ü'.repeat(3000)}`, `/${'x'.repeat(5000)}`, 7, null]) {
    expect((await original(sandboxId, path)).status, String(path)).toBe(400)
  }
  for (const kind of ['directory', 'symlink', 'special'] as const) {
    api.runtime.readOriginal = async () => ({ kind })
    expect(await original(sandboxId, '/most'), kind).toMatchObject({ status: 409, body: { message: expect.stringMatching(/^It was a/) } })
  }
  Reflect.deleteProperty(api.runtime, 'readOriginal')
})

it('says when the list is cut', async () => {
  const { sandboxId, files } = await create()
  for (let index = 0; index <= MAX_CHANGES; index += 1) files.set(`/home/user/${index}`, 'x')
  const { body } = await changes(sandboxId)
  expect(body.changes).toHaveLength(MAX_CHANGES)
  expect(body.isCut).toBe(true)
})

it('is 404 for other teams, 401 without a session, and 409 for a sandbox that has ended', async () => {
  const { sandboxId } = await create({ '/etc/motd': 'secret' })
  expect((await changes(sandboxId, stranger)).status).toBe(404)
  expect((await original(sandboxId, '/etc/motd', stranger)).status).toBe(404)
  expect((await changes(sandboxId, new Browser(api))).status).toBe(401)
  expect((await original(sandboxId, '/etc/motd', new Browser(api))).status).toBe(401)
  const foreign = { body: { path: '/etc/motd' }, origin: 'http://3000-x.dash.localhost:3000' }
  expect((await browser.call('POST', `/api/sandboxes/${sandboxId}/changes/original`, foreign)).status).toBe(403)
  expect((await changes('iunknown')).status).toBe(404)
  await api.call('DELETE', `/sandboxes/${sandboxId}`)
  await waitFor('the end', async () => (await browser.call('GET', `/api/sandboxes/${sandboxId}`)).body.state === 'ended')
  expect((await changes(sandboxId)).status).toBe(409)
  expect((await original(sandboxId, '/etc/motd')).status).toBe(409)
})

it('lets a team with many requests not take the turns of another one', async () => {
  const { sandboxId } = await create()
  const theirs = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
  expect(theirs.status).toBe(201)
  const holds = [api.runtime.faults.hold('changes'), api.runtime.faults.hold('changes')]
  const many = Array.from({ length: 40 }, () => changes(sandboxId))
  await Promise.all(holds.map(({ reached }) => reached))
  expect((await changes(sandboxId, stranger)).status, 'another team is answered meanwhile').toBe(404)
  let refused = 0
  for (const one of many) void one.then(({ status }) => (refused += Number(status === 429)))
  await waitFor('the refusals', () => refused === 22)
  for (const hold of holds) hold.release()
  const statuses = (await Promise.all(many)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(18)
  expect(statuses.filter((status) => status === 429)).toHaveLength(22)
})

it('is 501 for a runtime that cannot, and an error of the engine is one', async () => {
  const { sandboxId } = await create()
  const without = await world.startServer({ capabilities: { changes: false } })
  const there = await new Browser(without).logIn({ key: world.credentials.apiKey })
  expect((await changes(sandboxId, there)).status).toBe(501)
  expect((await original(sandboxId, '/x', there)).status).toBe(501)
  api.runtime.faults.failBefore('changes')
  expect((await changes(sandboxId)).status).toBe(503)
  api.runtime.faults.failBefore('readOriginal')
  expect((await original(sandboxId, '/x')).status).toBe(503)
})
