import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { storeLastLogs } from '../src/sandbox-logs/store-last-logs.ts'
import { createWorld, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterAll(() => world[Symbol.asyncDispose]())

async function create(): Promise<string> {
  world.daemon.report = () => undefined
  return (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID
}

/** A visit to a daemon that begins anew, with entries from 1 on. */
async function visit(sandboxId: string, boot: string, count: number): Promise<void> {
  const entries = Array.from({ length: count }, (_, index) => ({ n: index + 1, at: 1, message: `entry ${index + 1}`, fields: {} }))
  world.daemon.report = () => ({ boot, entries })
  const parts = { database: world.database, tokenSeed: api.ctx.installation.tokenSeed, log: silentLogger() }
  await storeLastLogs(parts, { sandboxId, incarnation: 1 }, 20_000)
}

/** Stores lines of a sandbox, each of so many parts of 32 characters that no compression makes smaller. */
const fill = (id: string, lines: number, parts: number): Promise<unknown> =>
  sql`
    insert into sandbox_log (sandbox_id, team_id, logged_at, level, message)
    select ${id}, ${world.teamId}::uuid, clock_timestamp(), 'info', (
      select string_agg(md5(line || '-' || part), '') from generate_series(1, ${parts}::int) as part
    )
    from generate_series(1, ${lines}::int) as line
  `.execute(world.database.db)

async function stored(id: string): Promise<{ lines: number; bytes: number }> {
  const { rows } = await sql<{ lines: number; bytes: number }>`
    select count(*) as lines, sum(pg_column_size(message) + pg_column_size(fields)) as bytes from sandbox_log where sandbox_id = ${id}
  `.execute(world.database.db)
  return rows[0] ?? { lines: 0, bytes: 0 }
}

async function newestOf(id: string): Promise<string> {
  return (await api.call('GET', `/v2/sandboxes/${id}/logs?limit=1`)).body.logs[0].message
}

describe('the log lines of a sandbox', () => {
  it('say what they take, those of its lifecycle and of its daemon', async () => {
    const id = await create()
    await visit(id, 'a', 10)
    const { rows } = await sql<{ lines: number; right: number }>`
      select count(*) as lines, count(*) filter (where bytes = octet_length(message) + octet_length(fields::text)) as right
      from sandbox_log where sandbox_id = ${id}
    `.execute(world.database.db)
    expect(rows[0]?.lines).toBeGreaterThan(10)
    expect(rows[0]?.right).toBe(rows[0]?.lines)
  })

  it('are kept up to 10,000', async () => {
    const id = await create()
    await fill(id, 10_500, 1)
    await visit(id, 'a', 1000)
    expect((await stored(id)).lines).toBe(10_000)
    expect(await newestOf(id)).toBe('entry 1000')
  })

  it('are kept up to 10,000, however often its daemon begins anew', async () => {
    const id = await create()
    await fill(id, 10_500, 1)
    for (let round = 0; round < 2; round += 1) {
      for (let turn = 0; turn < 5; turn += 1) await visit(id, `${round}-${turn}`, 200)
      expect((await stored(id)).lines).toBe(10_000)
    }
    expect(await newestOf(id)).toBe('entry 200')
  })

  it('are kept up to 16 MiB', async () => {
    const id = await create()
    await fill(id, 9000, 60)
    await visit(id, 'a', 1000)
    const { lines, bytes } = await stored(id)
    expect(bytes).toBeLessThanOrEqual(16 * 1024 ** 2)
    expect(bytes).toBeGreaterThan(15 * 1024 ** 2)
    expect(lines).toBeGreaterThan(9000)
    expect(await newestOf(id)).toBe('entry 1000')
  })
})
