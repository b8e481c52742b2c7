import { sql } from 'kysely'
import { listLifecycleEvents } from '../../../apps/api/src/sandboxes/events/lifecycle-events.ts'
import { reapExpired } from '../../../apps/api/src/sandboxes/repair/expiry-reaper.ts'
import { reconcile } from '../../../apps/api/src/sandboxes/repair/reconciler.ts'
import { forgetOld } from '../../../apps/api/src/sandboxes/repair/sandbox-loops.ts'
import { Repairs } from '../../../apps/api/src/sandboxes/repair/repairs.ts'
import { claimTick, ensureTicks } from '../../../apps/api/src/sandbox-metrics/claim-tick.ts'
import { forgetMetrics } from '../../../apps/api/src/sandbox-metrics/metric-loops.ts'
import { Sampler } from '../../../apps/api/src/sandbox-metrics/sampler.ts'
import { silentLogger } from '../../../packages/kit/src/logging/create-logger.ts'
import type { World } from '../../../apps/api/test/support/control-plane.ts'
import type { RowWorld } from './row-world.ts'

/** One kind of work of the control plane. */
export interface Work {
  readonly what: string
  /** What a cost is divided by: the rows of the table, the rows of the answer, or nothing, for work that must not depend on the rows. */
  readonly per: 'row' | 'listed row' | 'ended row' | 'visited row' | 'pass'
  /** Rows of one measurement at the least: the fewer a world has, the more often the work is repeated in it. Default: 2,000. */
  readonly atLeast?: number
  /** Before each repetition, and not measured. */
  readonly prepare?: (world: RowWorld) => Promise<unknown>
  /** Returns the rows that it handled. */
  readonly run: (world: RowWorld) => Promise<number>
}

const PAGE = 100
const ENDED_AT_ONCE = 100

export const WORKS: Readonly<Record<string, Work>> = {
  metrics: { what: 'the metrics page, with series of each sandbox', per: 'row', run: readMetrics },
  v1: { what: 'GET /sandboxes, filtered to half of them', per: 'listed row', run: (world) => get(world, '/sandboxes?metadata=tier%3D1') },
  'v2-page': { what: 'GET /v2/sandboxes, first page', per: 'listed row', run: (world) => get(world, `/v2/sandboxes?limit=${PAGE}`) },
  'v2-pages': { what: 'GET /v2/sandboxes, all pages', per: 'listed row', run: (world) => getPages(world, '') },
  'v2-oldest': { what: 'GET /v2/sandboxes, all pages, oldest first', per: 'listed row', run: (world) => getPages(world, '&order=asc') },
  'v2-template': {
    what: 'GET /v2/sandboxes, all pages of a template',
    per: 'listed row',
    run: (world) => getPages(world, '&template=base'),
  },
  'v2-few': { what: 'GET /v2/sandboxes, metadata that one in a hundred has', per: 'row', run: listFew },
  'v2-paused': {
    what: 'GET /v2/sandboxes, paused ones, of which there are none',
    per: 'pass',
    run: (world) => get(world, '/v2/sandboxes?state=paused'),
  },
  events: { what: 'the newest 100 lifecycle events of a team', per: 'pass', run: readEvents },
  create: { what: 'a create and the kill of it', per: 'pass', run: createAndKill },
  reconcile: { what: 'a pass of the reconciler, nothing to repair', per: 'row', run: reconcileAll },
  'reap-none': { what: 'a pass of the expiry reaper, nothing expired', per: 'pass', run: reap },
  'reap-due': { what: 'the end of expired sandboxes by the expiry reaper', per: 'ended row', atLeast: 200, prepare: expire, run: reapDue },
  tick: { what: 'a tick of the sampler, without its visits', per: 'row', prepare: passTick, run: tick },
  sample: { what: 'a pass of the sampler', per: 'visited row', atLeast: 500, prepare: passTick, run: sample },
  retention: { what: 'the loops that delete old rows, nothing old', per: 'pass', run: forget },
}

async function readMetrics({ rows, api }: RowWorld): Promise<number> {
  const page = await api.ctx.metrics.registry.metrics()
  const series = page.match(/^sandyard_sandbox_cpu_used_ratio\{/gm)?.length ?? 0
  if (series === 0 && rows > 0) throw new Error('the metrics page has no series of sandboxes')
  return rows
}

async function get({ api }: RowWorld, path: string): Promise<number> {
  const { status, body, text } = await api.call('GET', path)
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${text}`)
  return (body as unknown[]).length
}

/** @throws Error when the pages together do not have every sandbox once */
async function getPages({ rows, api }: RowWorld, query: string): Promise<number> {
  const seen = new Set<string>()
  let token = ''
  for (;;) {
    const { body, headers } = await api.call('GET', `/v2/sandboxes?limit=${PAGE}${query}${token}`)
    for (const { sandboxID } of body as { sandboxID: string }[]) seen.add(sandboxID)
    const next = headers['x-next-token'] as string | undefined
    if (next === undefined) break
    token = `&nextToken=${encodeURIComponent(next)}`
  }
  if (seen.size !== rows) throw new Error(`the pages have ${seen.size} of ${rows} sandboxes`)
  return rows
}

async function listFew(world: RowWorld): Promise<number> {
  await get(world, '/v2/sandboxes?metadata=group%3D1')
  return world.rows
}

async function readEvents({ world }: RowWorld): Promise<number> {
  const types = ['sandbox.lifecycle.created', 'sandbox.lifecycle.killed'] as const
  const request = { teamId: world.teamId, types, offset: 0, limit: 100, isAscending: false }
  return (await listLifecycleEvents(world.database.db, request)).length
}

async function createAndKill({ api }: RowWorld): Promise<number> {
  const { status, body, text } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
  if (status !== 201) throw new Error(`a create was answered ${status}: ${text}`)
  await api.call('DELETE', `/sandboxes/${(body as { sandboxID: string }).sandboxID}`)
  await api.ctx.sandboxes.repairs.drain()
  return 1
}

async function reconcileAll({ rows, api: { ctx } }: RowWorld): Promise<number> {
  await reconcile({ ...ctx.sandboxes, engineId: ctx.engineId })
  if (ctx.sandboxes.repairs.size > 0) throw new Error('the reconciler found something to repair')
  return rows
}

async function reap({ api: { ctx } }: RowWorld): Promise<number> {
  await reapExpired({ ...ctx.sandboxes, engineId: ctx.engineId })
  return 1
}

async function expire(world: RowWorld): Promise<void> {
  await world.refill()
  await sql`
    update sandbox set expires_at = clock_timestamp() - interval '1 second'
    where sandbox_id = any(array(select sandbox_id from sandbox order by sandbox_id limit ${ENDED_AT_ONCE}))
  `.execute(world.world.database.db)
}

async function reapDue({ world, api: { ctx } }: RowWorld): Promise<number> {
  const repairs = new Repairs(silentLogger())
  const before = await count(world, 'sandbox')
  await reapExpired({ ...ctx.sandboxes, repairs, engineId: ctx.engineId })
  await repairs.drain()
  const ended = before - (await count(world, 'sandbox'))
  if (ended !== ENDED_AT_ONCE) throw new Error(`the reaper ended ${ended} sandboxes`)
  return ended
}

async function count({ database }: World, table: 'sandbox' | 'sandbox_metric'): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(database.db)
  return rows[0]?.count ?? 0
}

/** Makes the next tick due. */
async function passTick({ world: { database } }: RowWorld): Promise<void> {
  await ensureTicks(database)
  const value = sql<string>`floor(extract(epoch from clock_timestamp()) * 1000 - 5000)::bigint::text`
  await database.db.updateTable('server_setting').set({ value }).where('name', '=', 'sampled_at_ms').execute()
}

async function tick({ rows, world }: RowWorld): Promise<number> {
  if ((await claimTick(world.database)) === undefined) throw new Error('the tick was not due')
  return rows
}

/** A pass ends before the next tick, so it may visit only some of many rows. */
async function sample({ world, api }: RowWorld): Promise<number> {
  const { database } = world
  const before = await count(world, 'sandbox_metric')
  const sampler = new Sampler({ database, tokenSeed: api.ctx.installation.tokenSeed, hasDiskLimit: false, log: silentLogger() })
  await sampler.run(new AbortController().signal)
  return (await count(world, 'sandbox_metric')) - before
}

async function forget({ world, api: { ctx } }: RowWorld): Promise<number> {
  const { retention } = ctx.config
  await forgetOld(world.database.db, retention)
  await forgetMetrics({ database: world.database, retention })
  return 1
}
