import { afterAll, beforeAll, expect, it } from 'vitest'
import { ADMIN_TOKEN, createWorld, waitFor, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { insertBuild, insertTemplate, seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let theirs: Party
let browser: Browser
let stranger: Browser
let operator: Browser
let running: string
let ended: string
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true })
  theirs = await seedParty(world, 'Theirs')
  browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
  stranger = await new Browser(api).logIn({ key: theirs.apiKey })
  operator = await new Browser(api).logIn({ adminToken: ADMIN_TOKEN })
  running = await create({ metadata: { job: 'a' } })
  ended = await create({ metadata: { job: 'b' } })
  expect((await api.call('POST', `/sandboxes/${ended}/pause`)).status).toBe(204)
  await browser.call('DELETE', `/api/wire/sandboxes/${ended}`)
  await waitFor('the sandbox is in the history', async () => (await get(`/sandboxes/${ended}`)).state === 'ended')
})
afterAll(() => world[Symbol.asyncDispose]())

const create = async (body: object): Promise<string> => {
  const answer = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', ...body } })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.sandboxID
}
const get = async (path: string, by = browser) => {
  const answer = await by.call('GET', `/api${path}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const insertDecisions = async (): Promise<void> => {
  const { team_id } = await world.database.db
    .selectFrom('sandbox_history')
    .select('team_id')
    .where('sandbox_id', '=', ended)
    .executeTakeFirstOrThrow()
  const decision = { sandbox_id: ended, decided_at: new Date(), verdict: 'deny', rule: 'deny', address: '192.0.2.1', port: 443 } as const
  await world.database.db
    .insertInto('sandbox_egress')
    .values({ ...decision, team_id, name: 'example.com', connections: 2 })
    .execute()
}

it('gives an overview of the team, and to operators also what was asked for in vain', async () => {
  const ours = await world.database.db.selectFrom('sandbox').select('team_id').where('sandbox_id', '=', running).executeTakeFirstOrThrow()
  const row = { team_id: ours.team_id, sampled_at: new Date(Date.now() - 1_800_000), concurrent: 7, started: 3 }
  await world.database.db.insertInto('team_metric').values(row).execute()
  const overview = await get('/overview?range=6h')
  expect(overview).toMatchObject({ counts: { running: 1, paused: 0 }, failedBuilds: [], unserved: [] })
  expect(overview.createMs.p95).toBeGreaterThanOrEqual(overview.createMs.p50)
  expect(Math.max(...overview.series.map((bucket: { running: number }) => bucket.running))).toBe(7)
  expect(overview.startsInRange).toBeGreaterThanOrEqual(3)
  expect(overview.events.length).toBeGreaterThan(4)
  for (const range of ['1h', '24h', '7d']) expect((await get(`/overview?range=${range}`)).series.length, range).toBeLessThanOrEqual(60)
  expect(await get('/overview', stranger)).toMatchObject({ counts: { running: 0 }, createMs: null, events: [], startsInRange: 0 })
  const failed = await insertBuild(world, await insertTemplate(world, theirs, { alias: 'web' }), { status: 'failed', tags: [] })
  expect((await get('/overview', stranger)).failedBuilds).toMatchObject([{ buildId: failed }])
  expect((await browser.call('GET', '/api/overview?range=1y')).status).toBe(400)
})

it('has the timeline of an ended sandbox: runs, pauses, who ended it and why, and egress decisions, in pages', async () => {
  await insertDecisions()
  const { data } = await get(`/sandboxes/${ended}/timeline`)
  const byKind = (kind: string) => data.find((entry: { kind: string }) => entry.kind === kind)
  const [run, pause, end] = [byKind('sandbox.running'), byKind('sandbox.paused'), byKind('sandbox.killing')]
  expect(run.endedAt).toBe(pause.at)
  expect(pause.endedAt).toBe(end.at)
  expect(end).toMatchObject({ lane: 'lifecycle', text: expect.stringMatching(/^It was killed with the key ".*in the dashboard/) })
  expect(end.actor).toMatchObject({ kind: 'key', viaDashboard: true })
  expect(end).not.toHaveProperty('endedAt')
  expect(byKind('egress.deny')).toMatchObject({ lane: 'net', text: expect.stringContaining('example.com:443 (tcp, 2 connections') })
  for (const order of ['asc', 'desc']) {
    const whole = (await get(`/sandboxes/${ended}/timeline?order=${order}`)).data
    const seen: unknown[] = []
    let cursor = ''
    for (let page = 0; page < 20; page++) {
      const body = await get(`/sandboxes/${ended}/timeline?limit=2&order=${order}${cursor}`)
      seen.push(...body.data)
      if (body.nextCursor === null) break
      cursor = `&cursor=${body.nextCursor}`
    }
    expect(seen, order).toEqual(whole)
  }
  expect((await get(`/sandboxes/${ended}/timeline?lane=net`)).data).toHaveLength(1)
  const live = (await get(`/sandboxes/${running}/timeline`)).data
  expect(live.find(({ kind }: { kind: string }) => kind === 'sandbox.running')).toMatchObject({ endedAt: null })
  expect((await browser.call('GET', `/api/sandboxes/${ended}/timeline?lane=gone`)).status).toBe(400)
  expect((await stranger.call('GET', `/api/sandboxes/${ended}/timeline`)).status).toBe(404)
})

it('has the commands of a sandbox in its timeline, with exit codes; one that has not ended lasts until the end of the sandbox', async () => {
  const { team_id } = await world.database.db
    .selectFrom('sandbox_history')
    .select('team_id')
    .where('sandbox_id', '=', ended)
    .executeTakeFirstOrThrow()
  const lifecycle = (await get(`/sandboxes/${ended}/timeline?lane=lifecycle`)).data as { kind: string; at: string }[]
  const end = lifecycle.find(({ kind }) => kind === 'sandbox.ended')?.at ?? ''
  const at = (ms: number): Date => new Date(Date.parse(end) - 1000 + ms)
  const line = (ms: number, message: string, fields: object) => ({
    sandbox_id: ended,
    team_id,
    logged_at: at(ms),
    level: 'info' as const,
    message,
    fields: JSON.stringify({ logger: 'process', ...fields }),
  })
  await world.database.db
    .insertInto('sandbox_log')
    .values([
      line(0, 'Process started', { pid: 7, user: 'user', cmd: '/bin/bash -l -c make test' }),
      line(10, 'Process started', { pid: 8, user: 'root', cmd: 'sleep 60' }),
      line(20, 'Process ended', { pid: 7, exitCode: 2, status: 'exit status 2' }),
      line(30, 'Process started', { pid: 7, user: 'user', cmd: '/bin/bash -l -c true' }),
      line(40, 'Process ended', { pid: 7, exitCode: 0, status: 'exit status 0' }),
    ])
    .execute()
  const { data } = await get(`/sandboxes/${ended}/timeline?lane=command&order=asc`)
  expect(data).toMatchObject([
    {
      lane: 'command',
      kind: 'process.started',
      text: 'make test',
      exitCode: 2,
      endedAt: at(20).toISOString(),
      data: { user: 'user', pid: 7 },
    },
    { text: 'sleep 60', endedAt: end },
    { text: 'true', exitCode: 0, endedAt: at(40).toISOString() },
  ])
  expect(data[1]).not.toHaveProperty('exitCode')
  // A pause that keeps files only ends all processes.
  const paused = { subject: ended, team_id, kind: 'sandbox.paused', data: JSON.stringify({ keep: 'files' }), created_at: at(25) }
  await world.database.db.insertInto('event').values(paused).execute()
  const again = (await get(`/sandboxes/${ended}/timeline?lane=command&order=asc`)).data
  expect(again.map(({ endedAt }: { endedAt: string }) => endedAt)).toEqual([20, 25, 40].map((ms) => at(ms).toISOString()))
})

it('adds up what the sandboxes of the team used', async () => {
  const range = `from=${new Date(Date.now() - 86_400_000).toISOString()}&to=${new Date(Date.now() + 86_400_000).toISOString()}`
  const usage = await get(`/usage?${range}&by=metadata&metadataKey=job&bucket=hour`)
  expect(usage.rows.map(({ id }: { id: string }) => id).toSorted()).toEqual(['a', 'b'])
  expect(usage.total).toMatchObject({ sandboxes: 2 })
  expect(usage.total.sandboxHours).toBeGreaterThan(0)
  expect(usage.total.vcpuHours).toBeCloseTo(2 * usage.total.sandboxHours)
  expect(usage.total.memoryGibHours).toBeCloseTo(usage.total.sandboxHours)
  expect(usage.series.length).toBeGreaterThanOrEqual(48)
  const hours = usage.series.reduce((sum: number, { sandboxHours }: { sandboxHours: number }) => sum + sandboxHours, 0)
  // The running one goes on between the two queries.
  expect(Math.abs(hours - usage.total.sandboxHours)).toBeLessThan(0.01)
  for (const by of ['team', 'template', 'key']) {
    expect((await get(`/usage?${range}&by=${by}`)).rows, by).toMatchObject([{ sandboxes: 2, name: expect.stringMatching(/./) }])
  }
  expect(await get(`/usage?${range}&by=team`, stranger)).toMatchObject({ rows: [], total: { sandboxes: 0, sandboxHours: 0 }, isCut: false })
  const wrong = ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z&by=team', 'from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z&by=team']
  for (const query of [...wrong, `${range}&by=metadata`, 'by=team']) {
    expect((await browser.call('GET', `/api/usage?${query}`)).status, query).toBe(400)
  }
})

it('lists the audit of the team, and of all teams for operators only', async () => {
  const { data } = await get(`/audit?search=${ended}`)
  expect(data.length).toBeGreaterThanOrEqual(2)
  expect(data[0]).toMatchObject({
    actor: { kind: 'key', label: expect.stringMatching(/./) },
    teamName: expect.stringMatching(/./),
    status: 204,
  })
  const first = await get('/audit?limit=1')
  const second = await get(`/audit?limit=1&cursor=${first.nextCursor}`)
  expect(Number(second.data[0].id)).toBeLessThan(Number(first.data[0].id))
  expect((await get(`/audit?credentialId=${data[0].actor.id}&search=${ended}`)).data).toEqual(data)
  expect((await get(`/audit?actor=admin&search=${ended}`)).data).toEqual([])
  expect((await get(`/audit?to=2020-01-01T00:00:00Z`)).data).toEqual([])
  expect((await get(`/audit?search=${ended}`, stranger)).data).toEqual([])
  expect((await stranger.call('GET', '/api/audit?allTeams=true')).status).toBe(403)
  expect((await get(`/audit?allTeams=true&search=${ended}`, operator)).data).toEqual(data)
  expect((await browser.call('GET', '/api/audit?cursor=x')).status).toBe(400)
})

it('has what a sandbox was made from and what was made from it', async () => {
  const made = await api.call('POST', `/sandboxes/${running}/snapshots`, { body: { name: 'kept' } })
  expect(made.status, made.text).toBe(201)
  const child = await create({ templateID: made.body.snapshotID })
  const { nodes, isCut } = await get(`/sandboxes/${running}/lineage`)
  expect(isCut).toBe(false)
  expect(nodes.map(({ kind }: { kind: string }) => kind)).toEqual(['template', 'sandbox', 'snapshot', 'sandbox'])
  expect(nodes[1]).toMatchObject({ id: running, parentId: nodes[0].id })
  expect(nodes[2]).toMatchObject({ parentId: running, name: expect.stringMatching(/kept$/) })
  expect(nodes[3]).toMatchObject({ id: child, parentId: nodes[2].id })
  expect((await get(`/sandboxes/${child}/lineage`)).nodes).toEqual(nodes)
  expect((await stranger.call('GET', `/api/sandboxes/${running}/lineage`)).status).toBe(404)
})

it('has a fork below the sandbox that was forked, which is also its parent', async () => {
  const parent = await create({})
  const forked = await api.call('POST', `/sandboxes/${parent}/fork`, { body: { count: 1, timeout: 60 } })
  expect(forked.status, forked.text).toBe(201)
  const fork = forked.body[0].sandbox.sandboxID
  const { nodes } = await get(`/sandboxes/${parent}/lineage`)
  expect(nodes.map(({ id }: { id: string }) => id)).toEqual([nodes[0].id, parent, fork])
  expect(nodes[2]).toMatchObject({ kind: 'sandbox', parentId: parent })
  expect((await get(`/sandboxes/${fork}/lineage`)).nodes).toEqual(nodes)
  expect((await get(`/sandboxes/${fork}`)).parent).toEqual({ kind: 'fork', id: parent })
})
