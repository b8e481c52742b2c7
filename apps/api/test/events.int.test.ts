import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { forgetOld } from '../src/sandboxes/repair/sandbox-loops.ts'
import { createWorld, reconcileNow, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let strangerKey: string
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  strangerKey = (await seedIdentity(world.database, { teamName: 'Strangers', email: 'stranger@acme.test' })).credentials?.apiKey ?? ''
})
afterAll(() => world[Symbol.asyncDispose]())

let id: string
beforeEach(async () => {
  id = (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', metadata: { a: 'b' }, mcp: { github: {} } } })).body.sandboxID
})

const get = (url: string, apiKey?: string): Promise<Answer> => api.call('GET', url, { ...(apiKey !== undefined && { apiKey }) })
const changeNetwork = (): Promise<Answer> => api.call('PUT', `/sandboxes/${id}/network`, { body: {} })
/** Returns when it is in the history: the removal goes on behind the answer. */
async function kill(): Promise<void> {
  expect((await api.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
  const ended = world.database.db.selectFrom('sandbox_history').select('sandbox_id').where('sandbox_id', '=', id)
  await waitFor('the end of the sandbox', async () => (await ended.execute()).length === 1)
}
const ask = (action: string, body: object = {}): Promise<Answer> => api.call('POST', `/sandboxes/${id}/${action}`, { body })
const typesOf = ({ body }: Answer): string[] => body.map(({ type }: { type: string }) => type)

/** A change as a pause or a resume writes it, so many minutes after the start. */
async function append(kind: string, minutes: number, data: object = {}): Promise<void> {
  await sql`
    insert into event (team_id, kind, subject, data, created_at)
    select team_id, ${kind}, sandbox_id, ${JSON.stringify(data)}::jsonb, started_at + make_interval(mins => ${minutes})
    from sandbox where sandbox_id = ${id}
  `.execute(world.database.db)
}

const KINDS = ['starting', 'running', 'network_changed', 'timeout_changed', 'pausing', 'paused', 'resuming', 'resumed', 'killing', 'ended']

describe('[GET /sandboxes/{sandboxID}/events]', () => {
  it('has every change with its actor, oldest first, also after the end', async () => {
    await changeNetwork()
    await ask('timeout', { timeout: 900 })
    await ask('pause')
    await ask('connect', { timeout: 60 })
    await kill()
    const { status, body } = await get(`/sandboxes/${id}/events`)
    expect(status).toBe(200)
    const key = { kind: 'key', keyId: expect.stringMatching(/^[0-9a-f-]{36}$/) }
    const actors = body.map(({ type, eventData }: { type: string; eventData: { actor: object } }) => [type, eventData.actor])
    expect(actors).toEqual(KINDS.map((kind) => [`sandbox.${kind}`, key]))
    expect(body[0]).toMatchObject({
      id: expect.stringMatching(/^\d+$/),
      version: 'v1',
      sandboxId: id,
      sandboxTemplateId: world.templateId,
      sandboxBuildId: world.buildId,
      sandboxTeamId: world.teamId,
      sandboxExecutionId: `${id}-0`,
      eventData: { mcp: ['github'] },
    })
    expect(body[1].sandboxExecutionId).toBe(`${id}-1`)
    expect(body[5]).toMatchObject({ eventData: { keep: 'memory' }, sandboxExecutionId: `${id}-1` })
    expect(body[7]).toMatchObject({ eventData: { restored: 'memory' }, sandboxExecutionId: `${id}-2` })
    expect(body.slice(-2).map(({ eventData }: { eventData: { reason: string } }) => eventData.reason)).toEqual(['killed', 'killed'])
    const times = body.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp))
    expect(times).toEqual(times.toSorted((a: number, b: number) => a - b))
  })

  it('names the server, when it ends a sandbox', async () => {
    const reasons = async (): Promise<unknown[]> => {
      const { body } = await get(`/sandboxes/${id}/events`)
      return body.map(({ eventData }: { eventData: { actor: unknown; reason: unknown } }) => [eventData.actor, eventData.reason]).slice(-2)
    }
    world.engine.sandboxes.clear()
    await reconcileNow(api, { secondLookMs: 0 })
    await waitFor('the end of the lost sandbox', async () => (await get(`/sandboxes/${id}`)).status === 404)
    await waitFor('the last event', async () => typesOf(await get(`/sandboxes/${id}/events`)).includes('sandbox.ended'))
    expect(await reasons()).toEqual([
      [{ kind: 'server' }, 'lost'],
      [{ kind: 'server' }, 'lost'],
    ])
  })

  it('is read in pages, and a reader that continues after its last place misses nothing', async () => {
    const seen: string[] = []
    let after = 0
    const read = async (): Promise<number> => {
      const { body } = await get(`/sandboxes/${id}/events?after=${after}&limit=2`)
      for (const event of body) {
        expect(event.place).toBeGreaterThan(after)
        after = event.place
        seen.push(event.id)
      }
      return body.length
    }
    while ((await read()) > 0);
    expect(seen).toHaveLength(2)
    // An event that was written before another one, and is committed after it.
    const begun = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    const slow = world.database.transaction(async (tx) => {
      await sql`insert into event (team_id, kind, subject) values (${world.teamId}::uuid, 'sandbox.forked', ${id})`.execute(tx)
      begun.resolve()
      await mayEnd.promise
    })
    await begun.promise
    await changeNetwork()
    expect(await read()).toBe(1)
    mayEnd.resolve()
    await slow
    expect(await read()).toBe(1)
    await kill()
    while ((await read()) > 0);
    const all = (await get(`/sandboxes/${id}/events`)).body.map((event: { id: string }) => event.id)
    expect(seen).toEqual(all)
    expect(all).toHaveLength(6)
  })

  it.each(['after=-1', 'after=x', 'limit=0', 'limit=101'])('refuses ?%s', async (query) => {
    expect((await get(`/sandboxes/${id}/events?${query}`)).status).toBe(400)
  })
})

describe('[GET /events/sandboxes] [GET /events/sandboxes/{sandboxID}]', () => {
  it('have the lifecycle of a sandbox in both orders, with pages and types', async () => {
    await ask('pause')
    await ask('resume', { timeout: 60 })
    await ask('timeout', { timeout: 900 })
    const { endAt } = (await get(`/sandboxes/${id}`)).body
    expect((await ask('snapshots')).status).toBe(201)
    await changeNetwork()
    await kill()
    const all = ['created', 'paused', 'resumed', 'updated', 'checkpointed', 'updated', 'killed'].map((type) => `sandbox.lifecycle.${type}`)
    const url = `/events/sandboxes/${id}`
    expect(typesOf(await get(url))).toEqual(all.toReversed())
    expect(typesOf(await get(`${url}?orderAsc=true`))).toEqual(all)
    expect(typesOf(await get(`${url}?orderAsc=true&offset=1&limit=3`))).toEqual(all.slice(1, 4))
    expect(typesOf(await get(`${url}?types=sandbox.lifecycle.killed`))).toEqual(['sandbox.lifecycle.killed'])
    const two = 'types=sandbox.lifecycle.killed&types=sandbox.lifecycle.created'
    expect(typesOf(await get(`${url}?${two}`))).toEqual(['sandbox.lifecycle.killed', 'sandbox.lifecycle.created'])
    const ofTeam = (await get('/events/sandboxes?limit=7')).body
    expect(ofTeam).toEqual((await get(url)).body)
    const { body } = await get(`${url}?orderAsc=true`)
    expect(body[0].eventData).toMatchObject({ sandbox_metadata: { a: 'b' }, actor: { kind: 'key' } })
    expect(body[1].eventData.execution).toMatchObject({ vcpu_count: 2, memory_mb: 1024, execution_time: expect.any(Number) })
    const execution = body[1].eventData.execution
    expect(Date.parse(execution.started_at) + execution.execution_time).toBe(Date.parse(body[1].timestamp))
    expect(Date.parse(body[3].eventData.set_timeout)).toBe(Date.parse(endAt))
    const runs = body.map(({ sandboxExecutionId }: { sandboxExecutionId: string }) => Number(sandboxExecutionId.split('-')[1]))
    expect(runs).toEqual([1, 1, 2, 2, 2, 2, 2])
  })

  it('have nothing of a sandbox that never ran', async () => {
    world.daemon.answers.push(401)
    await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
    const { sandbox_id } = await world.database.db
      .selectFrom('sandbox_history')
      .select('sandbox_id')
      .where('reason', '=', 'create_failed')
      .executeTakeFirstOrThrow()
    expect((await get(`/events/sandboxes/${sandbox_id}`)).body).toEqual([])
    expect(typesOf(await get(`/sandboxes/${sandbox_id}/events`))).toEqual(['sandbox.starting', 'sandbox.killing', 'sandbox.ended'])
  })

  it.each(['types=sandbox.created', 'limit=101', 'offset=-1', 'orderAsc=maybe'])('refuse ?%s', async (query) => {
    expect((await get(`/events/sandboxes?${query}`)).status).toBe(400)
    expect((await get(`/events/sandboxes/${id}?${query}`)).status).toBe(400)
  })
})

describe('all three', () => {
  it('show only sandboxes of the team', async () => {
    for (const url of [`/sandboxes/${id}/events`, `/events/sandboxes/${id}`]) {
      expect((await get(url, strangerKey)).body).toEqual({
        code: 404,
        message: `Sandbox "${id}" doesn't exist or you don't have access to it`,
      })
      expect((await get(url.replace(id, 'inothing'))).status).toBe(404)
      expect((await get(url.replace(id, 'a-b-c'))).body).toEqual({ code: 400, message: 'Invalid sandbox ID' })
    }
    expect((await get('/events/sandboxes', strangerKey)).body).toEqual([])
  })

  it('keep the events of a sandbox while it lives and while the history keeps it', async () => {
    const { db } = world.database
    const age = (table: 'event' | 'sandbox_history', column: string, key: string) =>
      sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} - interval '31 days' where ${sql.ref(key)} = ${id}`.execute(
        db,
      )
    const count = async (): Promise<number> => typesOf(await get(`/sandboxes/${id}/events`)).length
    await age('event', 'created_at', 'subject')
    await forgetOld(db, api.ctx.config.retention)
    expect(await count()).toBe(2)
    await kill()
    await forgetOld(db, api.ctx.config.retention)
    expect(await count()).toBe(4)
    await age('event', 'created_at', 'subject')
    await age('sandbox_history', 'ended_at', 'sandbox_id')
    await forgetOld(db, api.ctx.config.retention)
    expect((await get(`/sandboxes/${id}/events`)).status).toBe(404)
    expect(await db.selectFrom('event').select('event_id').where('subject', '=', id).execute()).toEqual([])
  })
})

describe('the history of an ended sandbox', () => {
  it('has its metadata, the time of all its runs, and who ended it why', async () => {
    await sql`update sandbox set started_at = started_at - interval '1 hour' where sandbox_id = ${id}`.execute(world.database.db)
    await sql`update event set created_at = created_at - interval '1 hour' where subject = ${id}`.execute(world.database.db)
    await append('sandbox.pausing', 9)
    await append('sandbox.paused', 10)
    await append('sandbox.resumed', 20)
    await append('sandbox.timeout_changed', 22)
    await append('sandbox.pausing', 24)
    await append('sandbox.pause_failed', 24)
    await append('sandbox.paused', 25)
    await append('sandbox.resuming', 30)
    await append('sandbox.resume_failed', 31)
    await kill()
    const row = await world.database.db.selectFrom('sandbox_history').selectAll().where('sandbox_id', '=', id).executeTakeFirstOrThrow()
    expect(row).toMatchObject({ metadata: { a: 'b' }, reason: 'killed', end_actor: { kind: 'key' } })
    expect(Math.round(row.run_ms / 60_000)).toBe(15)
    expect(row.state_changes.map(({ kind }) => kind)).not.toContain('sandbox.timeout_changed')
    expect(row.state_changes).toHaveLength(11)
  })

  it('counts the run that the end has ended', async () => {
    await sql`update event set created_at = created_at - interval '1 hour' where subject = ${id}`.execute(world.database.db)
    await kill()
    const row = await world.database.db.selectFrom('sandbox_history').selectAll().where('sandbox_id', '=', id).executeTakeFirstOrThrow()
    expect(Math.round(row.run_ms / 60_000)).toBe(60)
  })
})
