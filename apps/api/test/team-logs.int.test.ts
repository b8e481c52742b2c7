import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TeamLogs } from '../src/sandbox-logs/team-logs.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

const MIB = 1024 ** 2
const running = new AbortController().signal
const STRANGER = '00000000-0000-4000-8000-000000000001'

let world: World
let api: Server
let ids: string[]
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer()
  ids = []
  for (let count = 0; count < 3; count += 1)
    ids.push((await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID)
  await sql`delete from sandbox_log`.execute(world.database.db)
})
afterEach(() => world[Symbol.asyncDispose]())

/** Lines in the sandboxes of a team by turns, numbered from `first` on, each of so many parts of 32 characters that no compression makes smaller. */
async function fill(count: number, { first = 1, parts = 1, teamId = world.teamId } = {}): Promise<void> {
  await sql`
    insert into sandbox_log (sandbox_id, team_id, logged_at, level, message, bytes)
    select (${ids}::text[])[1 + line % 3], ${teamId}::uuid, clock_timestamp(), 'info', message, octet_length(message) + 2
    from generate_series(${first}::int, ${first + count - 1}::int) as line, lateral (
      select line || ' ' || string_agg(md5(line || '-' || part), '') as message from generate_series(1, ${parts}::int) as part
    ) as text
  `.execute(world.database.db)
}

async function kept(teamId = world.teamId): Promise<{ lines: number; bytes: number; oldest: number; newest: number }> {
  const number = sql`split_part(message, ' ', 1)::int`
  const { rows } = await sql<{ lines: number; bytes: number; oldest: number; newest: number }>`
    select count(*) as lines, coalesce(sum(octet_length(message) + octet_length(fields::text) + 256), 0)::bigint as bytes,
      min(${number}) as oldest, max(${number}) as newest
    from sandbox_log where team_id = ${teamId}
  `.execute(world.database.db)
  return rows[0] ?? { lines: 0, bytes: 0, oldest: 0, newest: 0 }
}

describe('the log lines of all sandboxes of a team', () => {
  it('are kept up to the cap: the oldest go first, whatever sandbox they are of', async () => {
    await fill(12_000)
    await new TeamLogs(world.database.db, MIB).pass(running)
    const { lines, bytes, oldest, newest } = await kept()
    expect(bytes).toBeLessThanOrEqual(MIB)
    expect(bytes).toBeGreaterThan(0.99 * MIB)
    expect([newest, newest - oldest + 1]).toEqual([12_000, lines])
    for (const id of ids) expect((await api.call('GET', `/v2/sandboxes/${id}/logs?limit=1`)).body.logs).toHaveLength(1)
  })

  it('are found however many lines there have been', async () => {
    await sql`select setval(pg_get_serial_sequence('sandbox_log', 'log_id'), 5000000000)`.execute(world.database.db)
    await fill(12_000)
    await new TeamLogs(world.database.db, MIB).pass(running)
    expect((await kept()).bytes).toBeLessThanOrEqual(MIB)
  })

  it('leave those of another team what they are', async () => {
    await fill(12_000, { teamId: STRANGER })
    await fill(2000)
    await new TeamLogs(world.database.db, MIB).pass(running)
    expect((await kept()).lines).toBe(2000)
    expect((await kept(STRANGER)).bytes).toBeLessThanOrEqual(MIB)
  })

  it('are counted again after a twentieth of the cap, and not before', async () => {
    const logs = new TeamLogs(world.database.db, 10 * MIB)
    await fill(40_000)
    await logs.pass(running)
    const { lines } = await kept()
    expect(lines).toBeLessThan(40_000)
    await fill(1000, { first: 40_001 })
    await logs.pass(running)
    expect((await kept()).lines).toBe(lines + 1000)
    await fill(3000, { first: 41_001 })
    await logs.pass(running)
    const { newest, bytes } = await kept()
    expect(newest).toBe(44_000)
    expect(bytes).toBeLessThanOrEqual(10 * MIB)
  })

  it('are bounded by the setting while a server runs', async () => {
    await fill(12_000, { parts: 60 })
    expect((await kept()).bytes).toBeGreaterThan(20 * MIB)
    await using _looping = await world.startServer({ loops: true, env: { SANDYARD_TEAM_LOG_SIZE: '16MiB' } })
    await waitFor('the end of a pass', async () => (await kept()).bytes <= 16 * MIB)
    expect((await kept()).bytes).toBeGreaterThan(15 * MIB)
  })
})
