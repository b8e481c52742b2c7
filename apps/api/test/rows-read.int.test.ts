import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database, Tx } from '@sandyard/db/database'
import { deleteOlder } from '@sandyard/db/delete-older'
import { listApiKeyPage } from '../src/credentials/api-key-rows.ts'
import { NIL_UUID } from '@sandyard/kit/ids/uuid'
import { forgetEvents } from '../src/events/forget-events.ts'
import { forgetSamples } from '../src/sandbox-metrics/forget-samples.ts'
import { listLifecycleEvents } from '../src/sandboxes/events/lifecycle-events.ts'
import { listSandboxes } from '../src/sandboxes/read/list-sandboxes.ts'
import { reapExpired } from '../src/sandboxes/repair/expiry-reaper.ts'
import { listMembers } from '../src/teams/members.ts'
import { listTeamRows } from '../src/teams/team-rows.ts'
import { listUserRows } from '../src/teams/users.ts'
import { claimDeliveries } from '../src/webhooks/claim-deliveries.ts'
import { forgetDeliveries } from '../src/webhooks/forget-deliveries.ts'
import { listDeliveries } from '../src/webhooks/list-deliveries.ts'
import { listSecrets } from '../src/secrets/read-secrets.ts'
import { createWorld, type Server, type World } from './support/control-plane.ts'

const ROWS = 3000
const PAGE = 20
const DAY_MS = 24 * 3_600_000
const WEBHOOK = '11111111-1111-4111-8111-111111111111'

let world: World
let api: Server

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  const { teamId, templateId, buildId } = world
  const { db } = world.database
  // Groups of seven have started at the same instant.
  await sql`
    insert into sandbox (
      sandbox_id, incarnation, team_id, template_id, build_id, state, endpoint_host, endpoint_daemon_port, is_secure, started_at, expires_at
    )
    select 'i' || md5(n::text), 1, ${teamId}::uuid, ${templateId}, ${buildId}::uuid, 'running', '127.0.0.1', 1, true,
      clock_timestamp() - make_interval(secs => n / 7), clock_timestamp() + interval '1 hour'
    from generate_series(1, ${ROWS}::int) as n
  `.execute(db)
  await sql`
    insert into event (team_id, kind, subject, created_at)
    select ${teamId}::uuid, kind, 'h' || n, clock_timestamp() - make_interval(secs => 100000 - n)
    from generate_series(1, ${ROWS}::int) as n, (values ('sandbox.running'), ('sandbox.killing')) as kinds (kind)
  `.execute(db)
  await sql`
    insert into sandbox_metric
    select 'h' || n, ${teamId}::uuid, clock_timestamp() - make_interval(secs => n), 1, 1, 1, 1, 1, 1, 1 from generate_series(1, ${ROWS}::int) as n
  `.execute(db)
  await sql`
    insert into api_key (team_id, name, hash, prefix, value_length, masked_value_prefix, masked_value_suffix, created_at)
    select ${teamId}::uuid, 'k' || n, 'h' || n, 'e2b_', 40, 'aa', 'bbbb', clock_timestamp() - make_interval(secs => n / 7)
    from generate_series(1, ${ROWS}::int) as n
  `.execute(db)
  const times = sql`clock_timestamp() - make_interval(secs => n / 7)`
  await sql`
    insert into team (name, slug, email, created_at) select 'Team', 'team-' || n, 'a@b.test', ${times} from generate_series(1, ${ROWS}::int) as n
  `.execute(db)
  await sql`
    with made as (
      insert into app_user (email, created_at) select n || '@b.test', ${times} from generate_series(1, ${ROWS}::int) as n returning id, created_at
    )
    insert into team_member (team_id, user_id, created_at) select ${teamId}::uuid, id, created_at from made
  `.execute(db)
  await sql`
    insert into webhook (webhook_id, team_id, name, url, events, enabled, key_id, sealed_secret)
    values (${WEBHOOK}::uuid, ${teamId}::uuid, 'many', 'https://example.com/', '{}', true, 'none', '')
  `.execute(db)
  await sql`
    insert into webhook_delivery (webhook_id, event_id, event_type, body, status, due_at, created_at)
    select ${WEBHOOK}::uuid, n, 'sandbox.lifecycle.created', '{}', case when n % 300 = 0 then 'dead' when n % 3 = 0 then 'pending' else 'delivered' end,
      clock_timestamp() + interval '1 hour', clock_timestamp() - make_interval(secs => n)
    from generate_series(1, ${ROWS}::int) as n
  `.execute(db)
  await sql`
    insert into secret (secret_id, team_id, name, current_version, created_at)
    select 'sec_' || n, ${teamId}::uuid, 'n' || n, 1, clock_timestamp() - make_interval(secs => n / 7) from generate_series(1, ${ROWS}::int) as n
  `.execute(db)
  for (const table of ['sandbox', 'event', 'sandbox_metric', 'api_key', 'team', 'app_user', 'team_member', 'webhook_delivery', 'secret'])
    await sql`vacuum analyze ${sql.table(table)}`.execute(db)
})
afterAll(() => world[Symbol.asyncDispose]())

/** The rows of a table that the statements of `work` have read, by indexes or by a scan of the whole table. */
async function rowsRead(table: string, work: (tx: Tx) => Promise<unknown>): Promise<number> {
  return world.database.transaction(async (tx) => {
    const before = await readSoFar(tx, table)
    await work(tx)
    return (await readSoFar(tx, table)) - before
  })
}

/** Of this connection, which reports them later. */
async function readSoFar(tx: Tx, table: string): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables where relname = ${table}
  `.execute(tx)
  return rows[0]?.read ?? 0
}

/** Passes on everything to one transaction. */
const within = (tx: Tx): Database =>
  Object.assign(Object.create(world.database) as Database, { db: tx, transaction: (work: (tx: Tx) => unknown) => work(tx) })

const deliveries = (tx: Tx, options: { afterSeconds?: number; status?: 'dead'; isAscending?: boolean }) => {
  const { afterSeconds, status, isAscending = false } = options
  const time = new Date(Date.now() - (afterSeconds ?? 0) * 1000).toISOString()
  return listDeliveries(tx, {
    webhookId: WEBHOOK,
    after: afterSeconds === undefined ? undefined : { time, id: WEBHOOK },
    limit: PAGE,
    isAscending,
    status,
  })
}

const page = (tx: Tx, states: readonly ('running' | 'paused')[], order: 'asc' | 'desc', afterSeconds?: number) =>
  listSandboxes(
    tx,
    { teamId: world.teamId, states },
    {
      order,
      limit: PAGE,
      after: afterSeconds === undefined ? undefined : { time: new Date(Date.now() - afterSeconds * 1000).toISOString(), id: 'i' },
    },
  )

const middle = () => ({ limit: PAGE, after: { time: new Date(Date.now() - (ROWS / 14) * 1000).toISOString(), id: NIL_UUID } })
const secretAfter = () => ({ time: new Date(Date.now() - (ROWS / 14) * 1000).toISOString(), id: 'sec_' })

describe('statements that run often', () => {
  it.each<[string, string, (tx: Tx) => Promise<unknown>]>([
    ['the first page of a list', 'sandbox', (tx) => page(tx, ['running', 'paused'], 'desc')],
    ['a page in the middle of a list', 'sandbox', (tx) => page(tx, ['running', 'paused'], 'desc', ROWS / 14)],
    ['such a page, oldest first', 'sandbox', (tx) => page(tx, ['running'], 'asc', ROWS / 14)],
    ['a page of a state that no sandbox has', 'sandbox', (tx) => page(tx, ['paused'], 'desc')],
    ['the first page of API keys', 'api_key', (tx) => listApiKeyPage(tx, world.teamId, { after: undefined, limit: PAGE })],
    [
      'a page in the middle of API keys',
      'api_key',
      (tx) => {
        const after = { time: new Date(Date.now() - (ROWS / 14) * 1000).toISOString(), id: world.teamId }
        return listApiKeyPage(tx, world.teamId, { after, limit: PAGE })
      },
    ],
    ['a pass of the reaper', 'sandbox', (tx) => reapExpired({ ...api.ctx.sandboxes, database: within(tx), engineId: api.ctx.engineId })],
    ['a page of teams', 'team', (tx) => listTeamRows(tx, middle())],
    ['a page of users', 'app_user', (tx) => listUserRows(tx, middle())],
    ['a page of the members of a team', 'team_member', (tx) => listMembers(tx, world.teamId, middle())],
    ['the users of such a page', 'app_user', (tx) => listMembers(tx, world.teamId, middle())],
    ['the first page of secrets', 'secret', (tx) => listSecrets(tx, world.teamId, { after: undefined, limit: PAGE })],
    ['a page in the middle of secrets', 'secret', (tx) => listSecrets(tx, world.teamId, { after: secretAfter(), limit: PAGE })],
    ['the retention of events', 'event', (tx) => forgetEvents(tx, 10 * DAY_MS)],
    ['the retention of samples', 'sandbox_metric', (tx) => forgetSamples(tx, DAY_MS)],
    [
      'the retention of other rows',
      'sandbox_metric',
      (tx) => deleteOlder(tx, { table: 'sandbox_metric', time: 'sampled_at', ageMs: DAY_MS }),
    ],
    [
      'the newest lifecycle events',
      'event',
      (tx) => {
        const types = ['sandbox.lifecycle.created', 'sandbox.lifecycle.killed'] as const
        return listLifecycleEvents(tx, { teamId: world.teamId, types, offset: 0, limit: PAGE, isAscending: false })
      },
    ],
    [
      'lifecycle events of a type that the team does not have',
      'event',
      (tx) => {
        const types = ['sandbox.lifecycle.paused', 'sandbox.lifecycle.paused', 'sandbox.lifecycle.updated'] as const
        return listLifecycleEvents(tx, { teamId: world.teamId, types, offset: 0, limit: PAGE, isAscending: true })
      },
    ],
    ['the first page of deliveries', 'webhook_delivery', (tx) => deliveries(tx, {})],
    ['a page in the middle of them', 'webhook_delivery', (tx) => deliveries(tx, { afterSeconds: ROWS / 2, isAscending: true })],
    ['the dead ones', 'webhook_delivery', (tx) => deliveries(tx, { status: 'dead' })],
    ['a look for deliveries that are due', 'webhook_delivery', (tx) => claimDeliveries(within(tx), 64)],
    ['the retention of deliveries', 'webhook_delivery', (tx) => forgetDeliveries(tx, DAY_MS)],
  ])('%s reads only the rows that it needs', async (_name, table, work) => {
    expect(await rowsRead(table, work)).toBeLessThan(ROWS / 10)
  })

  it('and a scan of a table is counted', async () => {
    expect(await rowsRead('sandbox', (tx) => sql`select max(metadata::text) from sandbox`.execute(tx))).toBe(ROWS)
  })
})

describe('[GET /v2/sandboxes] of thousands', () => {
  it.each(['desc', 'asc'])('has every sandbox once on its pages, %s', async (order) => {
    const seen: { sandboxID: string; startedAt: string }[] = []
    let token = ''
    do {
      const { body, headers } = await api.call('GET', `/v2/sandboxes?limit=100&order=${order}${token}`)
      expect(headers['x-total-running']).toBe(String(ROWS))
      seen.push(...body)
      const next = headers['x-next-token'] as string | undefined
      token = next === undefined ? '' : `&nextToken=${encodeURIComponent(next)}`
    } while (token !== '')
    const sorted = seen.toSorted((a, b) =>
      a.startedAt === b.startedAt ? compare(a.sandboxID, b.sandboxID) : compare(b.startedAt, a.startedAt),
    )
    expect(seen).toEqual(order === 'desc' ? sorted : sorted.toReversed())
    expect(new Set(seen.map(({ sandboxID }) => sandboxID)).size).toBe(ROWS)
  })
})

function compare(a: string, b: string): number {
  return a < b ? -1 : 1
}
