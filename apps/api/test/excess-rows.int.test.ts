import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ExcessRows } from '../src/sandboxes/repair/excess-rows.ts'
import { readOutbox } from '../src/webhooks/read-outbox.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

const ENV = { SANDYARD_SECRETS_KEY: 'ab'.repeat(32) }
const running = new AbortController().signal

let world: World
let api: Server
let id: string
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer({ env: ENV, lookupHost: async () => ['8.8.8.8'] })
  id = (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID
})
afterEach(() => world[Symbol.asyncDispose]())

/** Events of the team whose data has their number, of one sandbox or of several. */
async function append(kind: string, count: number, subjects: readonly string[] = [id]): Promise<void> {
  await sql`
    insert into event (team_id, kind, subject, data)
    select ${world.teamId}::uuid, ${kind}, (${[...subjects]}::text[])[1 + n % ${subjects.length}::int], jsonb_build_object('number', n)
    from generate_series(1, ${count}::int) as n
  `.execute(world.database.db)
}

async function kept(kind: string): Promise<{ count: number; oldest: number; newest: number }> {
  const { rows } = await sql<{ count: number; oldest: number; newest: number }>`
    select count(*) as count, min((data ->> 'number')::int) as oldest, max((data ->> 'number')::int) as newest from event where kind = ${kind}
  `.execute(world.database.db)
  return rows[0] ?? { count: 0, oldest: 0, newest: 0 }
}

async function linesOf(sandboxId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from sandbox_log where sandbox_id = ${sandboxId}`.execute(
    world.database.db,
  )
  return rows[0]?.count ?? 0
}

describe('a sandbox with more than its caps', () => {
  it('loses its oldest changes of the end time and of the network, and no other event', async () => {
    await append('sandbox.timeout_changed', 21_000)
    await append('sandbox.network_changed', 3000)
    await using looping = await world.startServer({ loops: true, env: ENV })
    await waitFor('the end of a pass', async () => (await kept('sandbox.network_changed')).count === 1000)
    await waitFor('the end of a pass', async () => (await kept('sandbox.timeout_changed')).count === 20_000)
    expect(await kept('sandbox.timeout_changed')).toEqual({ count: 20_000, oldest: 1001, newest: 21_000 })
    expect(await kept('sandbox.network_changed')).toEqual({ count: 1000, oldest: 2001, newest: 3000 })
    const { body } = await looping.call('GET', `/sandboxes/${id}/events?limit=3`)
    expect(body.map(({ type }: { type: string }) => type)).toEqual(['sandbox.starting', 'sandbox.running', 'sandbox.timeout_changed'])
  })

  it('loses its oldest log lines, also without a daemon that reports any', async () => {
    await sql`
      insert into sandbox_log (sandbox_id, team_id, logged_at, level, message)
      select ${id}, ${world.teamId}::uuid, clock_timestamp(), 'info', 'Network settings changed' from generate_series(1, 12000)
    `.execute(world.database.db)
    await append('sandbox.network_changed', 3000)
    await new ExcessRows(world.database.db).pass(running)
    expect(await linesOf(id)).toBe(10_000)
  })

  it('is found again by the events that follow', async () => {
    const excess = new ExcessRows(world.database.db)
    for (let pass = 0; pass < 2; pass += 1) {
      await append('sandbox.network_changed', 3000)
      await excess.pass(running)
      expect(await kept('sandbox.network_changed')).toEqual({ count: 1000, oldest: 2001, newest: 3000 })
    }
  })
})

describe('a team with more than its caps', () => {
  it('loses the oldest events of all its sandboxes', async () => {
    const subjects = Array.from({ length: 20 }, (_, index) => `i${index}`)
    await append('sandbox.network_changed', 12_000, subjects)
    await new ExcessRows(world.database.db).pass(running)
    expect(await kept('sandbox.network_changed')).toEqual({ count: 10_000, oldest: 2001, newest: 12_000 })
  })

  it('loses the oldest events of its templates', async () => {
    await append('template.tagged', 101_000, ['t1', 't2'])
    await new ExcessRows(world.database.db).pass(running)
    expect((await kept('template.tagged')).count).toBe(100_000)
  })

  it('leaves another team what it has', async () => {
    await sql`
      insert into event (team_id, kind, subject) select gen_random_uuid(), 'sandbox.network_changed', 'i' || n from generate_series(1, 12000) as n
    `.execute(world.database.db)
    await new ExcessRows(world.database.db).pass(running)
    expect((await kept('sandbox.network_changed')).count).toBe(12_000)
  })
})

describe('the history of a team', () => {
  /** Kills the sandbox of `beforeEach` and others, the first one first. */
  async function endSandboxes(count: number): Promise<string[]> {
    const ids = [id]
    while (ids.length < count) ids.push((await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID)
    for (const sandboxId of ids) {
      expect((await api.call('DELETE', `/sandboxes/${sandboxId}`)).status).toBe(204)
      await waitFor('the end of the sandbox', async () => (await endedOnes()).includes(sandboxId))
    }
    return ids
  }

  async function endedOnes(): Promise<string[]> {
    const rows = await world.database.db.selectFrom('sandbox_history').select('sandbox_id').orderBy('ended_at').execute()
    return rows.map(({ sandbox_id }) => sandbox_id)
  }

  it('loses the sandboxes that ended first, with their events', async () => {
    const ids = await endSandboxes(4)
    const living = (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID
    // A pass looks up one event in a hundred.
    await append('sandbox.ended', 2000, ['of the former days'])
    await new ExcessRows(world.database.db, 2).pass(running)
    expect(await endedOnes()).toEqual(ids.slice(2))
    const eventsOf = async (sandboxId: string) => (await api.call('GET', `/sandboxes/${sandboxId}/events`)).status
    expect(await Promise.all([...ids, living].map(eventsOf))).toEqual([404, 404, 200, 200, 200])
    const { rows } = await sql`select from event where subject = any(${ids.slice(0, 2)}::text[])`.execute(world.database.db)
    expect(rows).toEqual([])
  })

  it('keeps those that webhooks have not been told of', async () => {
    const body = { name: 'mine', url: 'https://public.test/', events: ['sandbox.lifecycle.killed'], signatureSecret: 'x'.repeat(32) }
    expect((await api.call('POST', '/events/webhooks', { body })).status).toBe(201)
    const [first] = await endSandboxes(2)
    await append('sandbox.ended', 2000, ['of the former days'])
    const excess = new ExcessRows(world.database.db, 1)
    await excess.pass(running)
    expect(await endedOnes()).toContain(first)
    while (await readOutbox(world.database));
    await append('sandbox.ended', 2000, ['of the former days'])
    await excess.pass(running)
    expect(await endedOnes()).not.toContain(first)
    expect(await world.database.db.selectFrom('webhook_delivery').select('event_id').execute()).toHaveLength(2)
  })
})

describe('events that a webhook waits for', () => {
  beforeEach(async () => {
    const body = { name: 'mine', url: 'https://public.test/', events: ['sandbox.lifecycle.updated'], signatureSecret: 'x'.repeat(32) }
    expect((await api.call('POST', '/events/webhooks', { body })).status).toBe(201)
    await append('sandbox.network_changed', 3000)
  })

  it('are kept until they are read, and all of them are delivered', async () => {
    await new ExcessRows(world.database.db).pass(running)
    expect((await kept('sandbox.network_changed')).count).toBe(3000)
    while (await readOutbox(world.database));
    await new ExcessRows(world.database.db).pass(running)
    expect((await kept('sandbox.network_changed')).count).toBe(1000)
    expect(await world.database.db.selectFrom('webhook_delivery').select('event_id').execute()).toHaveLength(3000)
  })

  it('are kept for a day when nothing reads them', async () => {
    await sql`update event set created_at = created_at - interval '25 hours'`.execute(world.database.db)
    await new ExcessRows(world.database.db).pass(running)
    expect((await kept('sandbox.network_changed')).count).toBe(1000)
  })
})
