import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RUN_BEGINS } from '../src/events/cap-events.ts'
import { capRuns } from '../src/sandboxes/events/cap-runs.ts'
import { ExcessRows } from '../src/sandboxes/repair/excess-rows.ts'
import { readOutbox } from '../src/webhooks/read-outbox.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

const ENV = { SANDYARD_SECRETS_KEY: 'ab'.repeat(32) }
const running = new AbortController().signal
const BATCHES = { size: 7, most: 100 }

let world: World
let api: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer({ env: ENV, lookupHost: async () => ['8.8.8.8'] })
})
afterEach(() => world[Symbol.asyncDispose]())

const db = () => world.database.db
const ofTeam = () => ({ owner: 'team_id', id: world.teamId, kind: RUN_BEGINS }) as const
const ofSandbox = (id: string) => ({ owner: 'subject', id, kind: RUN_BEGINS }) as const

/** A sandbox that has been paused and resumed so often, each run and each pause a second long, and has ended its last run with a pause. */
async function createPaused(resumes: number): Promise<string> {
  const id = (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID
  const base = new Date(Date.now() - 86_400_000)
  const at = (seconds: ReturnType<typeof sql>) => sql`${base}::timestamptz + make_interval(secs => ${seconds})`
  await sql`update event set created_at = ${at(sql`0`)} where subject = ${id} and kind = 'sandbox.running'`.execute(db())
  await sql`
    insert into event (team_id, kind, subject, created_at)
    select ${world.teamId}::uuid, case n % 2 when 1 then 'sandbox.paused' else 'sandbox.resumed' end, ${id}, ${at(sql`n`)}
    from generate_series(1, ${2 * resumes + 1}::int) as n
  `.execute(db())
  return id
}

async function kill(id: string): Promise<void> {
  expect((await api.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
  await waitFor('the end of the sandbox', async () => (await historyOf(id)) !== undefined)
}

const historyOf = (id: string) => db().selectFrom('sandbox_history').select('run_ms').where('sandbox_id', '=', id).executeTakeFirst()

async function runsOf(id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from event where subject = ${id} and kind in ('sandbox.running', 'sandbox.resumed')
  `.execute(db())
  return rows[0]?.count ?? 0
}

/** As clients see them, newest first. */
async function lifecycle(id: string): Promise<{ type: string; run: number }[]> {
  const { body } = await api.call('GET', `/events/sandboxes/${id}?limit=100`)
  return body.map(({ type, sandboxExecutionId }: { type: string; sandboxExecutionId: string }) => ({
    type: type.replace('sandbox.lifecycle.', ''),
    run: Number(sandboxExecutionId.replace(`${id}-`, '')),
  }))
}

describe('a sandbox that is paused and resumed without end', () => {
  it('loses the events of its oldest runs, which its history still counts', async () => {
    const id = await createPaused(20_500)
    const newest = await lifecycle(id)
    expect(newest[0]).toEqual({ type: 'paused', run: 20_501 })
    await new ExcessRows(db()).pass(running)
    expect(await runsOf(id)).toBe(20_000)
    expect(await lifecycle(id)).toEqual(newest)
    await kill(id)
    expect((await historyOf(id))?.run_ms).toBe(20_501_000)
    expect((await lifecycle(id))[0]).toEqual({ type: 'killed', run: 20_501 })
  })

  it('loses whole runs only, in batches of any size', async () => {
    const id = await createPaused(30)
    for (const most of [20, 20, 11, 3]) await capRuns(db(), ofSandbox(id), BATCHES, most)
    expect(await runsOf(id)).toBe(3)
    expect(await lifecycle(id)).toEqual(
      [31, 30, 29].flatMap((run) => [
        { type: 'paused', run },
        { type: 'resumed', run },
      ]),
    )
    await kill(id)
    expect((await historyOf(id))?.run_ms).toBe(31_000)
  })

  it('keeps what a webhook has not got yet', async () => {
    const body = { name: 'mine', url: 'https://public.test/', events: ['sandbox.lifecycle.paused'], signatureSecret: 'x'.repeat(32) }
    expect((await api.call('POST', '/events/webhooks', { body })).status).toBe(201)
    const id = await createPaused(30)
    await sql`update event set created_at = clock_timestamp() where subject = ${id}`.execute(db())
    await capRuns(db(), ofSandbox(id), BATCHES, 10)
    expect(await runsOf(id)).toBe(31)
    while (await readOutbox(world.database));
    await capRuns(db(), ofSandbox(id), BATCHES, 10)
    expect(await runsOf(id)).toBe(10)
  })
})

describe('the sandboxes of a team together', () => {
  it('lose the events of their oldest runs, also those that have ended', async () => {
    const ended = await createPaused(10)
    await kill(ended)
    const [first, second] = [await createPaused(10), await createPaused(10)]
    await capRuns(db(), ofTeam(), BATCHES, 15)
    expect([await runsOf(ended), await runsOf(first), await runsOf(second)]).toEqual([0, 6, 11])
    expect(await lifecycle(ended)).toEqual([{ type: 'killed', run: 11 }])
    await Promise.all([kill(first), kill(second)])
    for (const id of [ended, first, second]) expect((await historyOf(id))?.run_ms).toBe(11_000)
  })

  it('lose those of sandboxes that the history has forgotten', async () => {
    const [forgotten, live] = [await createPaused(10), await createPaused(10)]
    await kill(forgotten)
    await db().deleteFrom('sandbox_history').execute()
    await capRuns(db(), ofTeam(), BATCHES, 5)
    expect([await runsOf(forgotten), await runsOf(live)]).toEqual([0, 6])
  })

  it('lose nothing of a run of another team', async () => {
    await sql`
      insert into event (team_id, kind, subject) select gen_random_uuid(), 'sandbox.resumed', 'i' || n from generate_series(1, 30) as n
    `.execute(db())
    const id = await createPaused(30)
    await capRuns(db(), ofTeam(), BATCHES, 10)
    expect(await runsOf(id)).toBe(11)
    expect(
      await db()
        .selectFrom('event')
        .select('event_id')
        .where('kind', '=', 'sandbox.resumed')
        .where('team_id', '<>', world.teamId)
        .execute(),
    ).toHaveLength(30)
  })
})

it('an event that a team which is late still gets is kept', async () => {
  const body = { name: 'mine', url: 'https://public.test/', events: ['sandbox.lifecycle.updated'], signatureSecret: 'x'.repeat(32) }
  expect((await api.call('POST', '/events/webhooks', { body })).status).toBe(201)
  await sql`
    insert into event (team_id, kind, subject) select ${world.teamId}::uuid, 'sandbox.network_changed', 'i' from generate_series(1, 1500)
  `.execute(db())
  while (await readOutbox(world.database));
  await db().insertInto('webhook_late_team').values({ team_id: world.teamId, place: 0 }).execute()
  const kept = async (): Promise<number> => (await db().selectFrom('event').select('event_id').where('subject', '=', 'i').execute()).length
  await new ExcessRows(db()).pass(running)
  expect(await kept()).toBe(1500)
  await db().deleteFrom('webhook_late_team').execute()
  await sql`insert into event (team_id, kind, subject) select ${world.teamId}::uuid, 'sandbox.network_changed', 'i' from generate_series(1, 1500)`.execute(
    db(),
  )
  while (await readOutbox(world.database));
  await new ExcessRows(db()).pass(running)
  expect(await kept()).toBe(1000)
})
