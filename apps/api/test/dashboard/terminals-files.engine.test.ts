import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import type { FileEntry, Listing } from '@sandyard/dashboard-contract/files'
import type { ProcessView, TerminalView } from '@sandyard/dashboard-contract/processes'
import { createApp } from '../../src/app.ts'
import { parseApiConfig } from '../../src/config.ts'
import { createContext, type AppContext } from '../../src/context.ts'
import type { ApiInstance } from '../../src/http/api-instance.ts'
import { BuildBench, imageWithPackages } from '../support/build-bench.ts'
import { waitFor } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { LivePage } from '../support/live-page.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const stack = new AsyncDisposableStack()
let bench: BuildBench
let server: { readonly ctx: AppContext; readonly app: ApiInstance }
let browser: Browser
let sandboxId = ''

async function startServer(): Promise<typeof server> {
  const config = parseApiConfig({ SANDYARD_POOL_MEMORY: '0', SANDYARD_MAX_EVENT_LOOP_DELAY: '1h' })
  const ctx = stack.use(await createContext(config, { database: bench.database, runtime: bench.runtime, log: silentLogger() }))
  const app = await createApp(ctx)
  stack.defer(() => app.close())
  return { ctx, app }
}

beforeAll(async () => {
  bench = stack.use(await BuildBench.open({ baseImage: await imageWithPackages() }))
  await bench.seedBase()
  server = await startServer()
  browser = await new Browser(server).logIn({ key: bench.apiKey })
  const headers = { 'x-api-key': bench.apiKey }
  const answer = await server.app.inject({ method: 'POST', url: '/v2/sandboxes', headers, payload: { templateID: 'base', timeout: 600 } })
  sandboxId = answer.json<{ sandboxID: string }>().sandboxID
  expect(answer.statusCode).toBe(201)
})
afterAll(() => stack.disposeAsync())

const size = { cols: 80, rows: 24 }

async function openShell(page: LivePage, request: number, terminalId: string): Promise<number> {
  page.send({ t: 'term.open', request, sandboxId, terminalId, ...size })
  return (await page.frame('term.attached', (frame) => frame.request === request)).channel
}

it('keeps a shell over a reload and for another server, resizes it, and tells its viewers of its end', async () => {
  const terminalId = randomUUID()
  const page = await LivePage.open(server, browser)
  const channel = await openShell(page, 1, terminalId)
  page.type(channel, 'A=ki; echo to${A}ken; id -un\n')
  await waitFor('the output', () => page.output(channel).includes('tokiken') && page.output(channel).includes('user'))
  // The same request again, as after a lost answer, is the same shell.
  const again = await openShell(page, 2, terminalId)
  await waitFor('what is kept', () => page.output(again).includes('tokiken'))
  await page[Symbol.asyncDispose]()

  await using reloaded = await LivePage.open(server, browser)
  reloaded.send({ t: 'term.attach', request: 1, terminalId, cols: 100, rows: 30 })
  const { channel: back } = await reloaded.frame('term.attached')
  await waitFor('what is kept', () => reloaded.output(back).includes('tokiken'))
  // The size and the input travel apart.
  reloaded.type(back, 'until stty size | grep "30 100"; do sleep 0.1; done; echo still-$A\n')
  await waitFor('the new size', () => reloaded.output(back).includes('30 100') && reloaded.output(back).includes('still-ki'))

  const second = await startServer()
  const there = await new Browser(second).logIn({ key: bench.apiKey })
  await using other = await LivePage.open(second, there)
  other.send({ t: 'term.attach', request: 1, terminalId, ...size })
  await expect(other.frame('error', (frame) => frame.request === 1)).resolves.toMatchObject({ code: 503 })
  other.send({ t: 'term.attach', request: 2, terminalId, sandboxId, ...size })
  const { channel: elsewhere } = await other.frame('term.attached', (frame) => frame.request === 2)
  other.type(elsewhere, 'echo from-$A\n')
  await waitFor('output on both servers', () => other.output(elsewhere).includes('from-ki') && reloaded.output(back).includes('from-ki'))

  const listed = await there.call('GET', `/api/sandboxes/${sandboxId}/terminals`)
  expect((listed.body as { data: TerminalView[] }).data).toMatchObject([{ terminalId, viewers: 1, exit: null }])
  expect((await there.call('DELETE', `/api/sandboxes/${sandboxId}/terminals/${terminalId}`)).status).toBe(204)
  await expect(other.frame('term.exit')).resolves.toMatchObject({ channel: elsewhere })
  await expect(reloaded.frame('term.exit')).resolves.toMatchObject({ channel: back })
})

it('sends a page that does not acknowledge one window, and the others everything', async () => {
  const terminalId = randomUUID()
  await using page = await LivePage.open(server, browser)
  const channel = await openShell(page, 1, terminalId)
  await using slow = await LivePage.open(server, browser)
  slow.acknowledges = false
  const stuck = await openShell(slow, 1, terminalId)
  page.type(channel, 'seq 1 200000; echo do""ne\n')
  await waitFor('all of the output', () => page.output(channel).includes('done'))
  expect(page.output(channel)).toContain('\n200000\r\n')
  expect(page.output(channel)).not.toContain('left out')
  expect(slow.output(stuck).length).toBeLessThanOrEqual(256 * 1024)
  slow.acknowledges = true
  slow.send({ t: 'term.ack', channel: stuck, bytes: slow.output(stuck).length })
  await waitFor('the rest', () => slow.output(stuck).includes('left out') && slow.output(stuck).includes('done'))
})

it('refuses a blocked team to open and to type, and closes what it shows', async () => {
  const { db } = bench.database
  await using page = await LivePage.open(server, browser)
  const channel = await openShell(page, 1, randomUUID())
  await db.updateTable('team').set({ is_blocked: true, blocked_reason: 'unpaid' }).execute()
  server.ctx.feed.tell({ kind: 'auth' })
  await expect(page.frame('term.exit', (frame) => frame.channel === channel)).resolves.toMatchObject({ text: 'team is blocked: unpaid' })
  page.send({ t: 'term.open', request: 9, sandboxId, terminalId: randomUUID(), ...size })
  await expect(page.frame('error', (frame) => frame.request === 9)).resolves.toMatchObject({ code: 403 })
  await db.updateTable('team').set({ is_blocked: false, blocked_reason: null }).execute()
  server.ctx.feed.tell({ kind: 'auth' })
  await waitFor('the end of the block', async () => {
    const request = Math.trunc(Math.random() * 1e6) + 10
    page.send({ t: 'term.open', request, sandboxId, terminalId: randomUUID(), ...size })
    await waitFor('an answer', () => page.frames.some((frame) => 'request' in frame && frame.request === request))
    return page.frames.some((frame) => frame.t === 'term.attached' && frame.request === request)
  })
})

it('lists processes and ports without running a command', async () => {
  const shown = await browser.call('GET', `/api/sandboxes/${sandboxId}/processes`)
  const { data } = shown.body as { data: ProcessView[] }
  expect(data.find(({ pid }) => pid === 1)).toMatchObject({ parentPid: 0, user: 'root' })
  expect(data.find(({ terminalId }) => terminalId !== null)).toMatchObject({ user: 'user', memoryBytes: expect.any(Number) })
  expect(await browser.call('GET', `/api/sandboxes/${sandboxId}/ports`)).toMatchObject({ status: 200, body: { isCut: false } })
})

it('lists, writes, reads, moves and removes files, keeps owners, refuses a stale version, and tells of changes', async () => {
  const files = `/api/sandboxes/${sandboxId}/files`
  const at = (path: string, more = ''): string => `?path=${encodeURIComponent(path)}${more}`
  const octets = { 'content-type': 'application/octet-stream' }
  await using page = await LivePage.open(server, browser)
  const watch = page.subscribe(`watch:${sandboxId}:/home/user`)
  await page.frame('snapshot', (frame) => frame.id === watch)

  const write = (path: string, text: string, version: string) =>
    browser.call('PUT', `${files}/content${at(path, `&version=${encodeURIComponent(version)}`)}`, {
      body: Buffer.from(text),
      headers: octets,
    })
  const created = await write('/home/user/a ü.txt', 'one', 'none')
  expect(created).toMatchObject({ status: 200, body: { name: 'a ü.txt', owner: 'user', bytes: 3, kind: 'file' } })
  const { version } = created.body as FileEntry
  expect(await write('/home/user/a ü.txt', 'two', 'none')).toMatchObject({ status: 412 })
  expect(await write('/home/user/a ü.txt', 'three', version)).toMatchObject({ status: 200 })
  expect(await write('/home/user/a ü.txt', 'four', version)).toMatchObject({ status: 412 })

  const content = await browser.call('GET', `${files}/content${at('/home/user/a ü.txt')}`)
  expect(content).toMatchObject({ status: 200, text: 'three' })
  expect(content.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-security-policy': 'sandbox',
    'content-disposition': "attachment; filename*=UTF-8''a%20%C3%BC.txt",
    'x-content-type-options': 'nosniff',
  })
  const listed = await browser.call('GET', `${files}${at('/home/user')}`)
  expect((listed.body as Listing).entries.map(({ name }) => name)).toContain('a ü.txt')

  const post = (name: string, body: object) => browser.call('POST', `${files}/${name}`, { body })
  expect(await post('folder', { path: '/home/user/d' })).toMatchObject({ status: 200, body: { kind: 'directory' } })
  expect(await post('move', { from: '/home/user/a ü.txt', to: '/home/user/d' })).toMatchObject({ status: 409 })
  expect(await post('move', { from: '/home/user/a ü.txt', to: '/home/user/d/b' })).toMatchObject({ status: 200 })
  expect(await post('remove', { path: '/' })).toMatchObject({ status: 400 })
  expect(await post('remove', { path: '/home/user/d' })).toMatchObject({ status: 204 })
  expect(await browser.call('GET', `${files}/stat${at('/home/user/d')}`)).toMatchObject({ status: 404 })
  await waitFor('the changes', () =>
    page.frames.some((frame) => frame.t === 'patch' && frame.id === watch && JSON.stringify(frame.data).includes('a ü.txt')),
  )

  const stranger = await server.app.inject({ method: 'DELETE', url: `/sandboxes/${sandboxId}`, headers: { 'x-api-key': bench.apiKey } })
  expect(stranger.statusCode).toBe(204)
  expect(await browser.call('GET', `${files}${at('/home/user')}`)).toMatchObject({ status: 409 })
})
