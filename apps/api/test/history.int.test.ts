import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readEvents } from '../src/events/read-events.ts'
import { foldSpawns } from '../src/templates/spawn-counts.ts'
import { forgetOld } from '../src/sandboxes/repair/sandbox-loops.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

const create = async (): Promise<string> =>
  (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600 } })).body.sandboxID
/** Returns when it is in the history: the removal goes on behind the answer. */
async function kill(id: string): Promise<void> {
  await api.call('DELETE', `/sandboxes/${id}`)
  const ended = world.database.db.selectFrom('sandbox_history').select('sandbox_id').where('sandbox_id', '=', id)
  await waitFor('the end of the sandbox', async () => (await ended.execute()).length === 1)
}
const ago = (time: string) => sql<Date>`clock_timestamp() - ${time}::interval`

describe('the history of sandboxes', () => {
  it('stores the state changes, end reason, times and sizes of each sandbox', async () => {
    const id = await create()
    await kill(id)
    await api.ctx.sandboxes.repairs.drain()
    const row = await world.database.db.selectFrom('sandbox_history').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      sandbox_id: id,
      team_id: world.teamId,
      template_id: world.templateId,
      build_id: world.buildId,
      reason: 'killed',
      cpu_count: 2,
      memory_mib: 1024,
      disk_mib: 4096,
    })
    expect(row.state_changes.map(({ kind, reason }) => [kind, reason])).toEqual([
      ['sandbox.starting', undefined],
      ['sandbox.running', undefined],
      ['sandbox.killing', 'killed'],
    ])
    expect(row.ended_at.getTime()).toBeGreaterThanOrEqual(row.started_at?.getTime() ?? Number.NaN)
  })

  it('also stores sandboxes that never ran', async () => {
    world.daemon.answers.push(401)
    await create()
    const row = await world.database.db.selectFrom('sandbox_history').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ reason: 'create_failed', started_at: null })
  })
})

describe('events', () => {
  const append = (subject: string) => sql`
    insert into event (team_id, kind, subject) values (${world.teamId}::uuid, 'sandbox.starting', ${subject})
  `

  it('are read once each with a cursor, also if an earlier event commits after a later one', async () => {
    const { database } = world
    const start = (await readEvents(database, { after: 0 })).at(-1)?.place ?? 0
    const begun = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    const slow = database.transaction(async (tx) => {
      await append('slow').execute(tx)
      begun.resolve()
      await mayEnd.promise
    })
    await begun.promise
    await append('quick').execute(database.db)
    const first = await readEvents(database, { after: start })
    expect(first.map(({ subject }) => subject)).toEqual(['quick'])
    mayEnd.resolve()
    await slow
    const second = await readEvents(database, { after: first[0]?.place ?? 0 })
    expect(second.map(({ subject }) => subject)).toEqual(['slow'])
    expect(await readEvents(database, { after: second[0]?.place ?? 0 })).toEqual([])
  })

  it('are read in pages, in the same order by concurrent readers', async () => {
    const { database } = world
    for (let made = 0; made < 25; made += 1) await append(`e${made}`).execute(database.db)
    const readAll = async (): Promise<number[]> => {
      const places: number[] = []
      while (true) {
        const page = await readEvents(database, { after: places.at(-1) ?? 0, limit: 4 })
        if (page.length === 0) return places
        places.push(...page.map(({ place }) => place))
      }
    }
    const [one, two] = await Promise.all([readAll(), readAll()])
    expect(one.length).toBeGreaterThanOrEqual(25)
    expect(new Set(one).size).toBe(one.length)
    expect(one).toEqual(two)
  })

  it('are missed by no reader while transactions end in any order, whether it reads all events or those of one object', async () => {
    const { database } = world
    const subjects = ['one', 'two', 'three']
    const start = (await readEvents(database, { after: 0 })).at(-1)?.place ?? 0
    const write = async (subject: string, turns: number): Promise<void> =>
      database.transaction(async (tx) => {
        await append(subject).execute(tx)
        for (let turn = 0; turn < turns; turn += 1) await sql`select 1`.execute(tx)
      })
    /** Reads with a cursor until it has seen so many events. */
    const read = async (count: number, subject?: string): Promise<number[]> => {
      const places: number[] = []
      while (places.length < count) {
        const page = await readEvents(database, { after: places.at(-1) ?? start, limit: 3, ...(subject !== undefined && { subject }) })
        places.push(...page.map(({ place }) => place))
      }
      return places
    }
    const writing = Array.from({ length: 30 }, (_, at) => write(subjects[at % 3] ?? '', (at * 7) % 11))
    const [all, ...each] = await Promise.all([read(30), ...subjects.map((subject) => read(10, subject))])
    await Promise.all(writing)
    expect(all).toEqual([...new Set(all)].toSorted((a, b) => a - b))
    const byObject = each.flat().toSorted((a, b) => a - b)
    expect(byObject).toEqual(all)
    expect(await readEvents(database, { after: all.at(-1) ?? 0 })).toEqual([])
  })
})

describe('retention', () => {
  it('removes all old events, history rows, decisions of the egress gateway and keys, and nothing else', async () => {
    const id = await create()
    const { db } = world.database
    await sql`
      insert into event (team_id, kind, subject, created_at)
      select ${world.teamId}::uuid, 'sandbox.ended', 'old', clock_timestamp() - interval '31 days' from generate_series(1, 2500)
    `.execute(db)
    await kill(id)
    await sql`
      insert into sandbox_history select 'iold', incarnation, team_id, template_id, build_id, alias, reason, cpu_count, memory_mib, disk_mib,
      created_at, started_at, clock_timestamp() - interval '31 days', state_changes from sandbox_history
    `.execute(db)
    await db.insertInto('idempotency_key').values({ team_id: world.teamId, key: 'k', request_hash: 'h', sandbox_id: 'inone' }).execute()
    await db
      .updateTable('idempotency_key')
      .set({ created_at: ago('25 hours') } as never)
      .execute()
    const decision = { sandbox_id: id, team_id: world.teamId, verdict: 'deny', rule: 'deny', address: '192.0.2.1', connections: 1 } as const
    await db
      .insertInto('sandbox_egress')
      .values([
        { ...decision, port: 1, decided_at: ago('31 days') },
        { ...decision, port: 2, decided_at: new Date() },
      ])
      .execute()
    await forgetOld(db, api.ctx.config.retention)
    expect(await db.selectFrom('sandbox_egress').select('port').execute()).toEqual([{ port: 2 }])
    expect(await db.selectFrom('event').select('subject').where('subject', '=', 'old').execute()).toEqual([])
    expect(await db.selectFrom('event').select('subject').where('subject', '=', id).execute()).toHaveLength(4)
    expect(await db.selectFrom('sandbox_history').select('sandbox_id').execute()).toEqual([{ sandbox_id: id }])
    expect(await db.selectFrom('idempotency_key').select('key').execute()).toEqual([])
  })
})

describe('the count of starts', () => {
  const count = async (): Promise<[number, boolean]> => {
    const { body } = await api.call('GET', '/templates')
    return [body[0].spawnCount, body[0].lastSpawnedAt !== null]
  }

  it('is correct at once, and stays correct while it is folded', async () => {
    expect(await count()).toEqual([0, false])
    await create()
    await create()
    expect(await count()).toEqual([2, true])
    await Promise.all([1, 2, 3].map(() => foldSpawns(world.database.db)))
    expect(await count()).toEqual([2, true])
    await create()
    expect(await count()).toEqual([3, true])
  })

  it('does not block a create while the row of the template is locked', async () => {
    await world.database.transaction(async (tx) => {
      await tx.selectFrom('template').select('template_id').forNoKeyUpdate().execute()
      expect(await create()).toMatch(/^i/)
    })
  })
})
