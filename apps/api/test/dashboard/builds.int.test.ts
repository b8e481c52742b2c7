import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, waitFor, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { LivePage } from '../support/live-page.ts'
import { insertBuild, insertTemplate, seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let ours: Party
let browser: Browser
let stranger: Browser
let templateId: string
let failed: string
let waiting: string
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  ours = await seedParty(world, 'Ours')
  const theirs = await seedParty(world, 'Theirs')
  browser = await new Browser(api).logIn({ key: ours.apiKey })
  stranger = await new Browser(api).logIn({ key: theirs.apiKey })
  templateId = await insertTemplate(world, ours, { alias: 'web' })
  await insertBuild(world, templateId, { tags: ['default', 'v1'], createdAt: new Date(Date.now() - 3000) })
  failed = await insertBuild(world, templateId, { status: 'failed', tags: [], createdAt: new Date(Date.now() - 2000) })
  waiting = await insertBuild(world, templateId, { status: 'waiting', tags: [], createdAt: new Date(Date.now() - 1000) })
  const { db } = world.database
  await db.updateTable('build').set({ reason_message: 'exit 1', reason_step: '2' }).where('build_id', '=', failed).execute()
  const lines = [
    ['1', 'CACHED [builder 1/3] FROM base [0123456789ab]'],
    ['2', '[builder 2/3] RUN false [ba9876543210]'],
    ...Array.from({ length: 30 }, (_, at) => ['2', `line ${at}`]),
  ]
  const rows = lines.map(([step = '', message = ''], at) => {
    return { build_id: failed, seq: at + 1, time: new Date(Date.now() - 1000 + at), level: 'info' as const, step, message }
  })
  await db.insertInto('build_log').values(rows).execute()
  const instructions = ['base', 'false', 'make'].map((arg, at) => ({ type: at === 0 ? 'from' : 'RUN', args: [arg], force: false }))
  const plan = JSON.stringify({ source: { kind: 'image', reference: 'debian' }, steps: instructions, force: false })
  await db.insertInto('build_plan').values({ build_id: failed, plan, needs_credentials: true }).execute()
})
afterAll(() => world[Symbol.asyncDispose]())

const get = async (path: string, by = browser) => {
  const answer = await by.call('GET', `/api${path}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

it('lists the builds of the team, newest first, in pages and by status', async () => {
  const all = await get('/builds')
  expect(all.data.map(({ status }: { status: string }) => status)).toEqual(['waiting', 'failed', 'ready'])
  expect(all.data[2]).toMatchObject({ templateName: 'ours/web', tags: ['default', 'v1'], reason: null })
  const first = await get('/builds?limit=2')
  const second = await get(`/builds?limit=2&cursor=${first.nextCursor}`)
  expect([...first.data, ...second.data]).toEqual(all.data)
  expect(second.nextCursor).toBeNull()
  expect((await get('/builds?status=failed,ready')).data).toHaveLength(2)
  expect((await get(`/builds?template=${templateId}`)).data).toHaveLength(3)
  expect((await browser.call('GET', '/api/builds?status=gone')).status).toBe(400)
  expect((await get('/builds', stranger)).data).toEqual([])
})

it('shows the steps of a build, the failing one with its last lines, and those that it did not reach', async () => {
  const build = await get(`/builds/${failed}`)
  expect(build).toMatchObject({ status: 'failed', reason: { message: 'exit 1', step: '2' }, canCancel: false, canRebuild: false })
  expect(build.steps).toMatchObject([
    { step: '1', text: 'FROM base', status: 'cached' },
    { step: '2', text: 'RUN false', status: 'failed' },
    { step: '3', text: 'RUN make', status: 'skipped', startedAt: null, durationMs: null },
  ])
  expect(build.failingLines).toHaveLength(20)
  expect(build.failingLines.at(-1).text).toBe('line 29')
  const page = await get(`/builds/${failed}/lines?after=30&limit=1`)
  expect(page).toMatchObject({ lines: [{ number: 31, step: '2', text: 'line 28' }], hasMore: true })
  expect((await browser.call('POST', `/api/builds/${failed}/rebuild`)).status).toBe(409)
  for (const path of [`/builds/${failed}`, `/builds/${failed}/lines`]) {
    expect((await stranger.call('GET', `/api${path}`)).status, path).toBe(404)
  }
})

it('cancels a build once, and only one of the team', async () => {
  expect((await stranger.call('POST', `/api/builds/${waiting}/cancel`)).status).toBe(404)
  const cancelled = await browser.call('POST', `/api/builds/${waiting}/cancel`)
  expect(cancelled, cancelled.text).toMatchObject({ status: 200, body: { status: 'failed', reason: { message: 'build was cancelled' } } })
  expect((await browser.call('POST', `/api/builds/${waiting}/cancel`)).status).toBe(409)
})

it('lists templates with their newest build, in each order', async () => {
  await insertTemplate(world, ours, { alias: 'app' })
  const named = await get('/templates?sort=name')
  expect(named.data.map(({ names }: { names: string[] }) => names[0])).toEqual(['ours/app', 'ours/web'])
  expect(named.data[1]).toMatchObject({ templateId, cpuCount: 2, newestBuild: { buildId: waiting }, createdBy: { label: ours.email } })
  for (const sort of ['name', 'created', 'updated', 'used']) {
    const first = await get(`/templates?sort=${sort}&limit=1`)
    const second = await get(`/templates?sort=${sort}&limit=1&cursor=${first.nextCursor}`)
    expect([...first.data, ...second.data], sort).toEqual((await get(`/templates?sort=${sort}`)).data)
  }
  expect((await get('/templates?search=WE')).data).toHaveLength(1)
  expect(await get(`/templates/${templateId}`)).toMatchObject({ names: ['ours/web'] })
  expect((await stranger.call('GET', `/api/templates/${templateId}`)).status).toBe(404)
})

it('lists keys without their values', async () => {
  const { data } = await get('/keys')
  expect(data).toMatchObject([
    { mask: expect.stringMatching(/^e2b_[0-9a-f]{2}\.\.\.[0-9a-f]{4}$/), createdBy: ours.email, liveSandboxes: 0, isOwn: true },
  ])
  expect(JSON.stringify(data)).not.toContain(ours.apiKey.slice(10))
  expect((await get('/keys?search=nothing')).data).toEqual([])
})

it('shows the builds and the lines of one live, and neither to another team', async () => {
  const { db } = world.database
  const running = await insertBuild(world, templateId, { status: 'building', tags: [], createdAt: new Date() })
  await using page = await LivePage.open(api, browser)
  await using other = await LivePage.open(api, stranger)
  const [list, one] = [page.subscribe('builds'), page.subscribe(`build:${running}`)]
  const snapshot = await page.frame('snapshot', (frame) => frame.id === list)
  expect(JSON.stringify(snapshot.data)).toContain(running)
  await expect(page.frame('snapshot', (frame) => frame.id === one)).resolves.toMatchObject({
    data: { build: { buildId: running }, lines: [] },
  })
  const [foreignList, foreign] = [other.subscribe('builds'), other.subscribe(`build:${running}`)]
  await expect(other.frame('error', (frame) => frame.id === foreign)).resolves.toMatchObject({ code: 404 })
  await expect(other.frame('snapshot', (frame) => frame.id === foreignList)).resolves.toMatchObject({ data: { rows: [] } })
  const told = (id: number): string => JSON.stringify(page.frames.filter((frame) => frame.t === 'patch' && frame.id === id))
  const line = { build_id: running, seq: 1, time: new Date(), level: 'info' as const, step: '1', message: 'a live line' }
  await db.insertInto('build_log').values(line).execute()
  await waitFor('the line', () => told(one).includes('a live line'))
  await db
    .updateTable('build')
    .set({ status: 'failed', reason_message: 'exit 7', finished_at: new Date() })
    .where('build_id', '=', running)
    .execute()
  api.ctx.feed.tell({ kind: 'build', id: running, teamId: undefined })
  await waitFor('the end', () => told(one).includes('exit 7') && told(list).includes('exit 7'))
})
