import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readEvents } from '../src/events/read-events.ts'
import { readLate } from '../src/webhooks/late-teams.ts'
import { readOutbox } from '../src/webhooks/read-outbox.ts'
import { TeamRoom } from '../src/webhooks/team-room.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'
import { seedParty, type Party } from './support/templates.ts'
import { ENV, lookupHost, SECRET, TYPES } from './support/webhook-callers.ts'

const KIB = 1024
const MIB = 1024 ** 2

let world: World
let api: Server
let other: Party

// Without loops: nothing is read or sent but by the test.
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: ENV, lookupHost })
  other = await seedParty(world, 'Other')
  await db().updateTable('template').set({ is_public: true }).where('template_id', '=', world.templateId).execute()
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  await db().deleteFrom('webhook').execute()
  await readOutbox(world.database)
})

const db = () => world.database.db
const ours = () => world.credentials.apiKey

async function createWebhooks(count: number, apiKey = ours()): Promise<string[]> {
  const ids: string[] = []
  for (let made = 0; made < count; made += 1) {
    const body = { name: 'mine', url: 'http://127.0.0.1:9/hook', events: [TYPES[1]], signatureSecret: SECRET }
    const answer = await api.call('POST', '/events/webhooks', { body, apiKey })
    expect(answer.status).toBe(201)
    ids.push(answer.body.id)
  }
  return ids
}

async function createSandbox(metadataBytes = 0, apiKey = ours()): Promise<string> {
  const metadata = metadataBytes === 0 ? {} : { text: 'x'.repeat(metadataBytes) }
  const { status, body } = await api.call('POST', '/v2/sandboxes', {
    body: { templateID: world.templateId, metadata, timeout: 600 },
    apiKey,
  })
  expect(status).toBe(201)
  return body.sandboxID
}

/** Makes events that the webhooks want. */
async function touch(sandboxId: string, times: number, apiKey = ours()): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    expect((await api.call('POST', `/sandboxes/${sandboxId}/timeout`, { body: { timeout: 600 + count }, apiKey })).status).toBe(204)
  }
}

async function readToEnd(room?: TeamRoom): Promise<void> {
  let isMore = true
  while (isMore) isMore = await readOutbox(world.database, room)
}

/** The newest event first. */
async function deliveries(id: string, apiKey = ours()): Promise<{ eventId: string; status: string }[]> {
  const { status, body } = await api.call('GET', `/events/webhooks/${id}/deliveries?limit=100`, { apiKey })
  expect(status).toBe(200)
  return body.data.toSorted((a: { eventId: string }, b: { eventId: string }) => Number(b.eventId) - Number(a.eventId))
}
const statuses = async (id: string): Promise<string[]> => (await deliveries(id)).map(({ status }) => status)

async function keptBytes(): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select coalesce(sum(octet_length(body)), 0)::bigint as bytes from webhook_delivery`.execute(
    db(),
  )
  return rows[0]?.bytes ?? 0
}

describe('the deliveries of a team', () => {
  it('have a cap in bytes over all its webhooks, which the newest are within', async () => {
    const ids = await createWebhooks(5)
    const sandboxId = await createSandbox(20 * KIB)
    await touch(sandboxId, 20)
    await readToEnd(new TeamRoom({ rows: 1000, bytes: MIB }))
    expect(await keptBytes()).toBeLessThanOrEqual(MIB)
    expect(await keptBytes()).toBeGreaterThan(MIB / 2)
    const { body: events } = await api.call('GET', `/events/sandboxes/${sandboxId}?limit=100&types=${TYPES[1]}`)
    const newest = Math.max(...events.map((event: { id: string }) => Number(event.id)))
    for (const id of ids) expect(Number((await deliveries(id))[0]?.eventId)).toBe(newest)
  })

  it('have a cap in rows: the oldest ended ones go first, and one that waits is dead before it goes', async () => {
    const [id = ''] = await createWebhooks(1)
    const sandboxId = await createSandbox()
    const room = new TeamRoom({ rows: 20, bytes: MIB })
    await touch(sandboxId, 12)
    await readToEnd(room)
    const first = await deliveries(id)
    expect(first.map(({ status }) => status)).toEqual(Array(12).fill('pending'))
    const delivered = first.slice(0, 6).map(({ eventId }) => Number(eventId))
    await db().updateTable('webhook_delivery').set({ status: 'delivered' }).where('event_id', 'in', delivered).execute()

    await touch(sandboxId, 10)
    await readToEnd(room)
    // The newer ones of those that have ended are left, and older ones that wait.
    expect(await statuses(id)).toEqual([...Array(10).fill('pending'), 'delivered', 'delivered', ...Array(6).fill('pending')])

    await touch(sandboxId, 2)
    await readToEnd(room)
    expect(await statuses(id)).toEqual([...Array(12).fill('pending'), 'delivered', ...Array(4).fill('pending'), 'dead'])
    await touch(sandboxId, 7)
    await readToEnd(room)
    expect(await statuses(id)).toEqual([...Array(16).fill('pending'), 'dead', 'dead'])
  })

  it('of another team are not those that go', async () => {
    const [id = ''] = await createWebhooks(1)
    const [others = ''] = await createWebhooks(1, other.apiKey)
    const [sandboxId, othersId] = [await createSandbox(), await createSandbox(0, other.apiKey)]
    const room = new TeamRoom({ rows: 20, bytes: MIB })
    await touch(othersId, 15, other.apiKey)
    await touch(sandboxId, 30)
    await readToEnd(room)
    expect(await deliveries(id)).toHaveLength(18)
    expect(await deliveries(others, other.apiKey)).toHaveLength(15)
  })
})

/** Counts the bytes of each statement and transaction that writes deliveries, and fails one that writes a delivery for an event. */
async function watchWrites(): Promise<AsyncDisposable> {
  const run = (text: string) => sql.raw(text).execute(db())
  await run('create table written (transaction bigint, bytes bigint, events bigint)')
  await run('create table broken (event_id bigint)')
  await run(`create function note_written() returns trigger language plpgsql as $$ begin
    insert into written select txid_current(), sum(octet_length(body)), count(distinct event_id) from made;
    if exists (select from made join broken using (event_id)) then raise exception 'broken'; end if;
    return null;
  end $$`)
  await run(`create trigger note_written after insert on webhook_delivery referencing new table as made
    for each statement execute function note_written()`)
  return {
    [Symbol.asyncDispose]: async () => {
      await run('drop function note_written cascade')
      await run('drop table written, broken')
    },
  }
}

describe('the reader of the events', () => {
  it('writes no more than some MiB at once, and keeps what it has written when a later statement fails', async () => {
    await using _watch = await watchWrites()
    const ids = await createWebhooks(30)
    const sandboxId = await createSandbox(60 * KIB)
    await touch(sandboxId, 6)
    const { rows: last } = await sql<{ id: number }>`select max(event_id) as id from event`.execute(db())
    await sql`insert into broken values (${last[0]?.id ?? 0})`.execute(db())
    await expect(readToEnd()).rejects.toThrow('broken')
    for (const id of ids) expect((await deliveries(id)).length).toBeGreaterThanOrEqual(4)
    await sql`delete from broken`.execute(db())
    await readToEnd()
    for (const id of ids) expect(await deliveries(id)).toHaveLength(6)
    const { rows } = await sql<{ statement: number; transaction: number }>`
      select max(bytes)::float8 as statement, max(total)::float8 as transaction
      from written, lateral (select sum(bytes) as total from written as same where same.transaction = written.transaction) as whole
    `.execute(db())
    expect(rows[0]?.statement).toBeLessThanOrEqual(MIB)
    expect(rows[0]?.transaction).toBeLessThanOrEqual(4 * MIB)
  })

  it('goes on to the events of other teams when a team needs more than a share, whose events follow', async () => {
    const ids = await createWebhooks(10)
    const [others = ''] = await createWebhooks(1, other.apiKey)
    const [sandboxId, othersId] = [await createSandbox(), await createSandbox(0, other.apiKey)]
    await touch(sandboxId, 30)
    await touch(othersId, 1, other.apiKey)
    await touch(sandboxId, 2)
    // A batch has 30 rows.
    const room = new TeamRoom({ rows: 600, bytes: 8 * MIB })
    expect(await readOutbox(world.database, room)).toBe(true)
    expect(await deliveries(others, other.apiKey)).toHaveLength(1)
    const before = (await deliveries(ids[0] ?? '')).length
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(10)
    // What comes meanwhile is behind what was left.
    await touch(sandboxId, 1)
    await touch(othersId, 1, other.apiKey)
    expect(await readOutbox(world.database, room)).toBe(true)
    expect(await deliveries(others, other.apiKey)).toHaveLength(2)
    await readToEnd(room)
    for (const id of ids) expect(await deliveries(id)).toHaveLength(33)
    // It has caught up: its next event is read with those of all.
    await touch(sandboxId, 1)
    expect(await readOutbox(world.database, room)).toBe(false)
    expect(await deliveries(ids[0] ?? '')).toHaveLength(34)
  })

  it('still has the events of a team that other servers pass over while one finds none left', async () => {
    const [id = ''] = await createWebhooks(1)
    const sandboxId = await createSandbox()
    await readToEnd()
    const reader = await db().selectFrom('webhook_reader').select('place').executeTakeFirstOrThrow()
    await db().insertInto('webhook_late_team').values({ team_id: world.teamId, place: reader.place }).execute()
    await touch(sandboxId, 1)
    const [event] = await readEvents(world.database, { after: reader.place })
    let reading: Promise<boolean> | undefined
    await world.database.transaction(async (tx) => {
      await tx
        .updateTable('webhook_reader')
        .set({ place: event?.place ?? 0 })
        .execute()
      reading = readLate(world.database, new TeamRoom())
      await waitFor('the wait for the reader', async () => {
        const { rows } = await sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%webhook_reader%'`.execute(
          db(),
        )
        return rows.length === 1
      })
    })
    expect(await reading).toBe(true)
    await readToEnd()
    expect(await deliveries(id)).toHaveLength(1)
  })

  it('misses nothing when several servers read', async () => {
    const ids = await createWebhooks(5)
    const [others = ''] = await createWebhooks(1, other.apiKey)
    const [sandboxId, othersId] = [await createSandbox(), await createSandbox(0, other.apiKey)]
    const rooms = Array.from({ length: 3 }, () => new TeamRoom({ rows: 400, bytes: 8 * MIB }))
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([touch(sandboxId, 8), touch(othersId, 2, other.apiKey), ...rooms.map((room) => readToEnd(room))])
    }
    await readToEnd(rooms[0])
    for (const id of ids) expect(await deliveries(id)).toHaveLength(40)
    expect(await deliveries(others, other.apiKey)).toHaveLength(10)
  })
})
