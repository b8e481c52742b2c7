import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import type { Changes } from '@sandyard/dashboard-contract/files'
import type { Recording } from '@sandyard/dashboard-contract/timeline'
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

beforeAll(async () => {
  bench = stack.use(await BuildBench.open({ baseImage: await imageWithPackages() }))
  await bench.seedBase()
  const config = parseApiConfig({ SANDYARD_POOL_MEMORY: '0', SANDYARD_MAX_EVENT_LOOP_DELAY: '1h' })
  const ctx = stack.use(await createContext(config, { database: bench.database, runtime: bench.runtime, log: silentLogger() }))
  const app = await createApp(ctx)
  stack.defer(() => app.close())
  server = { ctx, app }
  browser = await new Browser(server).logIn({ key: bench.apiKey })
  const answer = await call('POST', '/v2/sandboxes', { templateID: 'base', timeout: 600 })
  sandboxId = answer.json<{ sandboxID: string }>().sandboxID
  expect(answer.statusCode).toBe(201)
})
afterAll(() => stack.disposeAsync())

const call = (method: 'POST' | 'DELETE', url: string, payload?: object) =>
  server.app.inject({ method, url, headers: { 'x-api-key': bench.apiKey }, ...(payload && { payload }) })
const size = { cols: 80, rows: 24 }
const recordings = async (): Promise<readonly Recording[]> =>
  ((await browser.call('GET', `/api/sandboxes/${sandboxId}/recordings`)).body as { data: readonly Recording[] }).data
const castOf = async (recordingId: string): Promise<string> =>
  (await browser.call('GET', `/api/sandboxes/${sandboxId}/recordings/${recordingId}`)).text
const printed = (cast: string): string =>
  cast
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as [number, string, string])
    .map(([, code, data]) => (code === 'o' ? data : ''))
    .join('')

it('lists what programs have changed, running and paused, and reads the file of the image', async () => {
  const changes = async (): Promise<Changes> => {
    const answer = await browser.call('GET', `/api/sandboxes/${sandboxId}/changes`)
    expect(answer.status, answer.text).toBe(200)
    return answer.body as Changes
  }
  const original = (path: string) => browser.call('POST', `/api/sandboxes/${sandboxId}/changes/original`, { body: { path } })
  expect(await changes()).toEqual({ changes: [], isCut: false })
  const before = await browser.call('GET', `/api/sandboxes/${sandboxId}/files/content?path=/etc/debian_version`)
  const write = (path: string) =>
    browser.call('PUT', `/api/sandboxes/${sandboxId}/files/content?path=${encodeURIComponent(path)}`, {
      body: Buffer.from('new'),
      headers: { 'content-type': 'application/octet-stream' },
    })
  for (const path of ['/etc/hostnames', '/etc/debian_version', '/home/user/ü "x"']) expect((await write(path)).status, path).toBe(200)
  expect((await browser.call('POST', `/api/sandboxes/${sandboxId}/files/remove`, { body: { path: '/etc/issue' } })).status).toBe(204)
  const listed = {
    changes: expect.arrayContaining([
      { path: '/etc/hostnames', kind: 'added' },
      { path: '/etc/debian_version', kind: 'modified' },
      { path: '/home/user/ü "x"', kind: 'added' },
      { path: '/etc/issue', kind: 'deleted' },
    ]) as Changes['changes'],
    isCut: false,
  }
  expect(await changes()).toEqual(listed)
  expect((await changes()).changes).toHaveLength(4)
  expect(await original('/etc/debian_version')).toMatchObject({ status: 200, text: before.text })
  expect((await original('/etc/hostnames')).status).toBe(404)
  expect((await original('/etc')).status).toBe(409)
  expect((await original('/bin')).status).toBe(409)

  const paused = await call('POST', `/sandboxes/${sandboxId}/pause`)
  expect(paused.statusCode).toBe(204)
  expect(await changes()).toEqual(listed)
  expect(await original('/etc/issue')).toMatchObject({ status: 200, text: expect.stringContaining('Debian') })
  expect((await call('POST', `/sandboxes/${sandboxId}/resume`, { timeout: 600 })).statusCode).toBe(201)
})

it('records a terminal from its first output when asked, and never what is typed unseen', async () => {
  const terminalId = randomUUID()
  await using page = await LivePage.open(server, browser)
  page.send({ t: 'term.open', request: 1, sandboxId, terminalId, record: true, ...size })
  const { channel } = await page.frame('term.attached')
  const { recordingId } = await page.frame('term.recording', (frame) => frame.recordingId !== null)
  await waitFor('the prompt', () => page.output(channel).includes('user@'))
  const first = page.output(channel)
  page.type(channel, 'read -s SECRET; echo "has ${#SECRET}"\n')
  await waitFor('the question', () => page.output(channel).includes('read -s SECRET'))
  page.type(channel, 'hunter2\n')
  await waitFor('the answer', () => page.output(channel).includes('has 7'))
  page.send({ t: 'term.resize', channel, cols: 100, rows: 30 })
  page.type(channel, 'stty size\n')
  await waitFor('the size', () => page.output(channel).includes('30 100'))
  await waitFor('a part, while it goes on', async () => (await castOf(recordingId ?? '')).includes('30 100'))

  page.send({ t: 'term.record', channel, on: false })
  await page.frame('term.recording', (frame) => frame.recordingId === null)
  page.type(channel, 'echo not re""corded\n')
  await waitFor('later output', () => page.output(channel).includes('not recorded'))
  await waitFor('the end', async () => (await recordings()).every(({ endedAt }) => endedAt !== null))
  expect(await recordings()).toMatchObject([{ recordingId, terminalId, isTruncated: false, ...size }])
  const cast = await castOf(recordingId ?? '')
  expect(printed(cast)).toContain('has 7')
  expect(cast).toContain('"r","100x30"')
  expect(cast).not.toContain('hunter2')
  expect(cast).not.toContain('not recorded')
  expect(printed(cast).startsWith(first)).toBe(true)
})

it('records a part of a session, tells every viewer, and keeps the recording after the end of the sandbox', async () => {
  const terminalId = randomUUID()
  await using page = await LivePage.open(server, browser)
  page.send({ t: 'term.open', request: 1, sandboxId, terminalId, ...size })
  const { channel } = await page.frame('term.attached')
  page.type(channel, 'echo be""fore\n')
  await waitFor('output', () => page.output(channel).includes('before'))
  await using other = await LivePage.open(server, browser)
  other.send({ t: 'term.attach', request: 1, terminalId, ...size })
  await other.frame('term.attached')
  // Both at once are one recording.
  page.send({ t: 'term.record', channel, on: true })
  page.send({ t: 'term.record', channel, on: true })
  const { recordingId } = await other.frame('term.recording', (frame) => frame.recordingId !== null)
  page.type(channel, 'echo mid""dle\n')
  await waitFor('output', () => page.output(channel).includes('middle'))
  expect((await recordings()).filter((recording) => recording.terminalId === terminalId)).toHaveLength(1)

  expect((await call('DELETE', `/sandboxes/${sandboxId}`)).statusCode).toBe(204)
  await other.frame('term.exit')
  await waitFor('the end of the recording', async () => (await recordings()).every(({ endedAt }) => endedAt !== null))
  const cast = await castOf(recordingId ?? '')
  expect(printed(cast)).toContain('middle')
  expect(printed(cast)).not.toContain('before')
  const timeline = await browser.call('GET', `/api/sandboxes/${sandboxId}/timeline?lane=terminal`)
  const entries = (timeline.body as { data: readonly { recordingId?: string }[] }).data
  expect(entries.map((entry) => entry.recordingId)).toContain(recordingId)
})
