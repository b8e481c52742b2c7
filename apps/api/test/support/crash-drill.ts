import { sql } from 'kysely'
import { isDatabaseUnavailable } from '@sandyard/db/database-unavailable'
import { isServerAlive } from '@sandyard/db/server-lease'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import type { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { collectBuildSandboxes } from '../../src/builds/upkeep/collect-build-sandboxes.ts'
import { ImageCollector } from '../../src/builds/upkeep/collect-images.ts'
import { reapExpired } from '../../src/sandboxes/repair/expiry-reaper.ts'
import { Repairs } from '../../src/sandboxes/repair/repairs.ts'
import { BuildWorker } from '../../src/builds/queue/build-worker.ts'
import { Placement } from '../../src/servers/placement.ts'
import { runnerOn } from './builds.ts'
import { DYING, reconcileNow, waitFor, type Answer, type Server, type World } from './control-plane.ts'
import { expectNothingLeft, expectNothingParkedByDead } from './crash-invariants.ts'
import { CrashRelay } from './crash-relay.ts'
import { ConnectionBreak, Fuse, FusedRuntime, type CrashPoint } from './fuse.ts'

/** More steps than any operation has. */
const MOST_STEPS = 60
const AGE = sql`interval '10 minutes'`
const AGE_MS = 600_000
const DAY_MS = 24 * 3_600_000

/** What a drill does at each of its crash points. */
export interface CrashDrill<T> {
  /**
   * Also kills the server between two steps. Only an operation that calls the daemon changes something outside of its process there; for the
   * others that is the same as the loss of the answer of the step before.
   */
  readonly betweenSteps: boolean
  /** Settings of the server that dies. */
  readonly env?: Record<string, string>
  /** Makes what the operation works on, by a server that lives. */
  readonly prepare: () => Promise<T>
  /** The operation, on the server that dies. Resolves when it has its answer. `isCut`: whether the crash point was reached. */
  readonly operate: (dying: Server, prepared: T, isCut: () => boolean) => Promise<unknown>
  /** After the repairs, when all invariants hold. `answered` is what `operate` returned if it was not cut off. */
  readonly check: (prepared: T, outcome: { readonly point: CrashPoint; readonly answered: unknown }) => Promise<void>
}

/**
 * Kills a server before and during each step of an operation, and once after the last one: a step is a call of the runtime, the end of a
 * transaction or a single statement that writes. During a step means that it took effect and its answer is lost. Then two other servers, without a
 * warm pool, make two passes of their loops, both at once. Returns the number of steps.
 */
export async function drillCrashes<T>(world: World, survivors: readonly [Server, Server], drill: CrashDrill<T>): Promise<number> {
  let steps = 0
  for (const when of ['before', 'after'] as const) {
    const last = when === 'before' && !drill.betweenSteps ? 1 : MOST_STEPS
    for (let step = 1; step <= last; step += 1) {
      const prepared = await drill.prepare()
      const { isCut, answered, serverId } = await crashDuring(world, { point: { step, when }, env: drill.env }, (dying, isBlown) =>
        drill.operate(dying, prepared, isBlown),
      )
      await repairAfter(world, survivors, serverId)
      try {
        await expectNothingParkedByDead(world)
        await emptyPool(world, survivors[0])
        await expectNothingLeft(world)
        await drill.check(prepared, { point: { step, when }, answered })
      } catch (err) {
        throw new Error(`killed ${when === 'after' ? 'during' : 'before'} step ${step}${isCut ? '' : ' (after the last one)'}`, {
          cause: err,
        })
      }
      if (!isCut) break
      steps = Math.max(steps, step)
    }
  }
  return steps
}

/**
 * Breaks all connections of a server to its database before and during each of its writes in an operation; the server lives on. Then it makes two
 * passes of its own loops, before anything counts as abandoned. An operation that fails counts as not answered. Returns the number of steps.
 */
export async function drillBreaks<T>(world: World, withoutPool: Server, drill: CrashDrill<T>): Promise<number> {
  const gate = new ConnectionBreak()
  await using relay = new CrashRelay(world.database.url, gate, DYING)
  const server = await world.startServer({ databaseUrl: await relay.listen(), ...(drill.env && { env: drill.env }) })
  let steps = 0
  for (const when of ['before', 'after'] as const) {
    for (let step = 1; step <= MOST_STEPS; step += 1) {
      const prepared = await drill.prepare()
      gate.arm({ step, when })
      const answered = await drill
        .operate(server, prepared, () => gate.isOver)
        .then(
          (answer) => (isFailure(answer) ? undefined : answer),
          () => undefined,
        )
      const isCut = gate.isOver
      gate.arm(undefined)
      await connectAgain(server)
      await repairByItself(world, server)
      // A start for the pool that is in flight would be aged, given up, and then make its container.
      await server.ctx.pool.settled()
      await emptyPool(world, withoutPool)
      try {
        await expectNothingLeft(world)
        await drill.check(prepared, { point: { step, when }, answered })
      } catch (err) {
        throw new Error(`cut off ${when === 'after' ? 'during' : 'before'} step ${step}${isCut ? '' : ' (after the last one)'}`, {
          cause: err,
        })
      }
      if (!isCut) break
      steps = Math.max(steps, step)
    }
  }
  return steps
}

/** The sandbox that waits in the pool. The engine may still have others, which were killed. */
export async function findParked({ database }: World): Promise<string> {
  const parked = database.db.selectFrom('parked_sandbox').where('state', '=', 'parked').select('sandbox_id')
  return (await parked.executeTakeFirstOrThrow()).sandbox_id
}

/** What waits in the pool of a server that lives stays. */
async function emptyPool({ database }: World, { ctx }: Server): Promise<void> {
  const parked = await database.db.selectFrom('parked_sandbox').select('sandbox_id').executeTakeFirst()
  if (parked === undefined) return
  await database.db
    .updateTable('parked_sandbox')
    .set({ state: 'removing' })
    .where('state', '=', 'parked')
    .where(isServerAlive(sql.ref('parked_sandbox.server_id')))
    .execute()
  await database.db
    .updateTable('parked_sandbox')
    .set({ state_changed_at: sql<Date>`state_changed_at - ${AGE}` })
    .execute()
  for (let pass = 0; pass < 2; pass += 1) {
    await ctx.pool.fill()
    await ctx.sandboxes.repairs.drain()
  }
}

function isFailure(answer: unknown): boolean {
  return ((answer as Answer | undefined)?.status ?? 200) >= 400
}

/** A broken connection stays in the pool until its end is noticed; the loops of a server would meet it once and go on at their next pass. */
async function connectAgain({ ctx: { database } }: Server): Promise<void> {
  // At the same time, so that each open connection gets one.
  const all = Array.from({ length: Math.max(database.pool.open, 1) })
  const answers = async (): Promise<boolean> => {
    try {
      await Promise.all(all.map(() => sql`select pg_sleep(0.01)`.execute(database.db)))
      return true
    } catch (err) {
      if (isDatabaseUnavailable(err)) return false
      throw err
    }
  }
  await waitFor('connections to the database', answers)
}

/** Long enough for a removal or a build that nobody does any more, and not for a transition of a server that lives. */
async function repairByItself(world: World, server: Server): Promise<void> {
  const shortly = sql`interval '40 seconds'`
  for (let pass = 0; pass < 2; pass += 1) {
    await world.database.db
      .updateTable('sandbox')
      .set({
        state_changed_at: sql<Date>`state_changed_at - ${shortly}`,
        egress_claimed_until: sql<Date>`egress_claimed_until - ${shortly}`,
      })
      .execute()
    await world.database.db
      .updateTable('build_job')
      .set({ lease_until: sql<Date>`lease_until - ${shortly}` })
      .execute()
    for (const sandbox of world.engine.sandboxes.values()) Object.assign(sandbox, { createdAt: new Date(Date.now() - AGE_MS) })
    await runLoops(server)
  }
  await collectImages(world, server)
}

interface Crash {
  /** False when the operation was answered before it reached the step: then the server died after its answer. */
  readonly isCut: boolean
  readonly answered: unknown
  readonly serverId: number
}

async function crashDuring(
  world: World,
  { point, env }: { readonly point: CrashPoint; readonly env: Record<string, string> | undefined },
  work: (dying: Server, isCut: () => boolean) => Promise<unknown>,
): Promise<Crash> {
  const fuse = new Fuse(point)
  fuse.isArmed = false
  await using relay = new CrashRelay(world.database.url, fuse, DYING)
  const runtime = (options: ConstructorParameters<typeof FakeRuntime>[0]): FakeRuntime => new FusedRuntime(options ?? {}, fuse)
  const dying = await world.startServer({ databaseUrl: await relay.listen(), runtime, ...(env && { env }) })
  fuse.isArmed = true
  const { serverId } = dying.ctx.sandboxes
  const answering = work(dying, () => fuse.isBlown)
  answering.catch(() => undefined)
  const isCut = await Promise.race([answering.then(() => false), fuse.blown.then(() => true)])
  const answered = isCut ? undefined : await answering
  // After the answer: work behind it stops as well.
  fuse.blow()
  return { isCut, answered, serverId }
}

/** Makes everything of the dead server old enough, and lets both others run two passes of their loops at the same time. */
async function repairAfter(world: World, survivors: readonly [Server, Server], deadId: number): Promise<void> {
  const { db } = world.database
  await db
    .updateTable('server')
    .set({ lease_until: sql<Date>`lease_until - ${AGE}` })
    .where('server_id', '=', deadId)
    .execute()
  await db
    .updateTable('sandbox')
    .set({ state_changed_at: sql<Date>`state_changed_at - ${AGE}`, egress_claimed_until: sql<Date>`egress_claimed_until - ${AGE}` })
    .execute()
  await db
    .updateTable('build_job')
    .set({ lease_until: sql<Date>`lease_until - ${AGE}` })
    .where('server_id', '=', deadId)
    .execute()
  for (const sandbox of world.engine.sandboxes.values()) Object.assign(sandbox, { createdAt: new Date(Date.now() - AGE_MS) })
  for (let pass = 0; pass < 2; pass += 1) await Promise.all(survivors.map(runLoops))
  await collectImages(world, survivors[0])
}

async function collectImages({ database, engine }: World, { runtime }: Server): Promise<void> {
  for (const image of engine.images.values()) Object.assign(image, { createdAt: new Date(Date.now() - DAY_MS) })
  const collector = new ImageCollector({ database, images: runtime.images, log: silentLogger() })
  for (let pass = 0; pass < 2; pass += 1) await collector.collect(1000)
}

async function runLoops(server: Server): Promise<void> {
  const { ctx, runtime } = server
  const repairs = new Repairs(ctx.log.sandboxes)
  await Promise.all([
    reconcileNow(server, { secondLookMs: 1 }),
    reapExpired({ ...ctx.sandboxes, repairs, engineId: ctx.engineId }),
    runQueue(server),
    ctx.pool.fill(),
    collectBuildSandboxes({ database: ctx.database, runtime, log: ctx.log.builds }),
  ])
  await repairs.drain()
  await ctx.sandboxes.repairs.drain()
}

/** Takes builds until none is left. */
async function runQueue(server: Server): Promise<void> {
  await using worker = buildWorkerOf(server)
  await waitFor('the end of all builds', async () => {
    worker.onRefresh()
    return (await server.ctx.database.db.selectFrom('build_job').select('build_id').execute()).length === 0
  })
}

/** Builds on the runtime of a server, under its lease. */
export function buildWorkerOf({ ctx, runtime }: Server): BuildWorker & AsyncDisposable {
  const { database, installation, log, sandboxes } = ctx
  const parts = { database, runtime, tokenSeed: installation.tokenSeed, runner: runnerOn(runtime), log: log.builds }
  const worker = new BuildWorker({
    ...parts,
    serverId: sandboxes.serverId,
    width: 1,
    timeoutMs: 3_600_000,
    hasMemory: () => Promise.resolve(true),
    placement: new Placement(),
  })
  return Object.assign(worker, { [Symbol.asyncDispose]: () => worker.stop() })
}
