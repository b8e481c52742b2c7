import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MetricSample } from '@sandyard/dashboard-contract/live/topics'
import type { SandboxDetail, SandboxList, SandboxRow } from '@sandyard/dashboard-contract/sandboxes'
import { createWorld, waitFor, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { LivePage } from '../support/live-page.ts'

describe('the live topics', () => {
  let world: World
  let server: Server
  let page: LivePage

  beforeAll(async () => {
    world = await createWorld()
    server = await world.startServer({ loops: true })
    page = await LivePage.open(server, await new Browser(server).logIn({ key: world.credentials.apiKey }))
  })
  afterAll(async () => {
    await page[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  async function create(metadata: Record<string, string>): Promise<string> {
    const { status, body } = await server.call('POST', '/v2/sandboxes', { body: { templateID: 'base', metadata } })
    expect(status).toBe(201)
    return body.sandboxID as string
  }

  const patches = <T>(id: number): T[] => page.frames.flatMap((frame) => (frame.t === 'patch' && frame.id === id ? [frame.data as T] : []))

  it('sends the rows of a filter, and patches those that begin, change and cease to match', async () => {
    const run = randomUUID()
    const first = await create({ run })
    const id = page.subscribe(`sandboxes?metadata=run%3D${run}&limit=2`)
    const { data } = await page.frame('snapshot', (frame) => frame.id === id)
    const list = data as SandboxList
    expect(list.data.map(({ sandboxId }) => sandboxId)).toEqual([first])
    expect(list).toMatchObject({ matching: 1, counts: { running: 1 } })

    const rowsOf = (): SandboxRow[] => patches<{ rows?: SandboxRow[] }>(id).flatMap(({ rows = [] }) => rows)
    const removedOf = (): string[] => patches<{ removed?: string[] }>(id).flatMap(({ removed = [] }) => removed)
    await create({ run: randomUUID() })
    const second = await create({ run })
    const third = await create({ run })
    await waitFor('the new rows', () =>
      [second, third].every((each) => rowsOf().some(({ sandboxId, state }) => sandboxId === each && state === 'running')),
    )
    // It is on the second page now, and still matches.
    expect(removedOf()).toEqual([])
    await server.call('POST', `/sandboxes/${second}/timeout`, { body: { timeout: 900 } })
    await waitFor('the new end time', () =>
      rowsOf()
        .filter(({ sandboxId }) => sandboxId === second)
        .some(({ endsAt }) => Date.parse(endsAt ?? '') - Date.now() > 600_000),
    )
    await server.call('DELETE', `/sandboxes/${third}`)
    await waitFor('the removal', () => removedOf().includes(third))
    expect(removedOf()).toEqual([third])
  })

  it('shows a sandbox up to its end, and its newest metrics', async () => {
    const sandboxId = await create({})
    const sampled = new Date()
    const sample = { cpu_count: 2, cpu_used_pct: 12.5, mem_used: 10, mem_cache: 5, mem_total: 100, disk_used: 7, disk_total: 70 }
    const { database, teamId } = world
    await database.db
      .insertInto('sandbox_metric')
      .values({ sandbox_id: sandboxId, team_id: teamId, sampled_at: sampled, ...sample })
      .execute()
    const events = page.subscribe('events')
    await page.frame('snapshot', (frame) => frame.id === events)
    const detail = page.subscribe(`sandbox:${sandboxId}`)
    const metrics = page.subscribe(`metrics:${sandboxId},iabsent`)
    const { data } = await page.frame('snapshot', (frame) => frame.id === metrics)
    expect((data as Record<string, MetricSample>)[sandboxId]).toMatchObject({ at: sampled.getTime(), cpuPct: 12.5, memoryTotalBytes: 100 })
    expect(Object.keys(data as object)).toEqual([sandboxId])
    const { data: shown } = await page.frame('snapshot', (frame) => frame.id === detail)
    expect(shown).toMatchObject({ sandboxId, state: 'running', isReachable: true })
    await server.call('DELETE', `/sandboxes/${sandboxId}`)
    await waitFor('the end', () => patches<SandboxDetail>(detail).some(({ state, end }) => state === 'ended' && end !== null))
    await waitFor('the event', () => JSON.stringify(patches(events)).includes('sandbox.killing'))
  })

  it('refuses a topic of another team as if it did not exist, and wakes for no other team', async () => {
    const sandboxId = await create({})
    const admin = { 'x-admin-token': 'admin-secret' }
    const made = await server.call('POST', '/admin/teams', {
      body: { name: 'Other', email: 'other@acme.test' },
      headers: admin,
      apiKey: null,
    })
    expect(made.status).toBe(201)
    const key = await server.call('POST', `/admin/teams/${made.body.teamID ?? made.body.id}/api-keys`, {
      body: { name: 'k' },
      headers: admin,
      apiKey: null,
    })
    await using other = await LivePage.open(server, await new Browser(server).logIn({ key: key.body.key as string }))
    const [rows, one] = [other.subscribe('sandboxes'), other.subscribe(`sandbox:${sandboxId}`)]
    await expect(other.frame('error', (frame) => frame.id === one)).resolves.toMatchObject({ code: 404 })
    await expect(other.frame('snapshot', (frame) => frame.id === rows)).resolves.toMatchObject({ data: { data: [] } })
    const own = page.subscribe('sandboxes')
    await page.frame('snapshot', (frame) => frame.id === own)
    await server.call('DELETE', `/sandboxes/${sandboxId}`)
    await waitFor('the patch of the own team', () => patches(own).length > 0)
    expect(other.frames.filter(({ t }) => t === 'patch')).toEqual([])
  })
})
