import { sql } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import { isPresent } from '@sandyard/db/presence'
import type { BuilderVersion } from '@sandyard/db/schema/build'
import type { SandboxResources } from '@sandyard/runtime/types'
import type { BuildPlan } from '../build-plan.ts'
import { newBuildSandboxId } from '../build-sandbox-id.ts'
import { LEASE_MS, leaseEnd, remainingMs, type Attempt, type Orders } from './build-attempt.ts'

/** A build that a server has just taken up. */
export interface ClaimedBuild extends Attempt, Orders {
  readonly teamId: string
  readonly templateId: string
  readonly plan: BuildPlan
  readonly builderVersion: BuilderVersion
  readonly sealedCredentials: Buffer | undefined
  readonly resources: SandboxResources
  readonly sandboxId: string
  /** Of the attempt before this one, whose sandbox may still be there. */
  readonly formerSandboxId: string | undefined
  /** Attempts whose servers went away in the middle. */
  readonly abandoned: number
  readonly logCount: number
}

/** A server that lost its connection for a moment is not gone yet: it renews its leases more often than this. */
const GONE_SERVER_MS = 12_000

export interface ClaimOptions {
  readonly serverId: number
  /** For the whole build. */
  readonly timeoutMs: number
}

/**
 * Takes up one build that waits for a server or whose server is gone: of the team that has the fewest in work, and of those the one
 * whose last turn is longest ago, the one that has waited longest. Of several servers each gets another one.
 */
export async function claimBuild(database: Database, options: ClaimOptions): Promise<ClaimedBuild | undefined> {
  return database.transaction(async (tx) => {
    const next = await findNext(tx)
    if (next === undefined) return undefined
    const taken = await take(tx, next, options)
    await noteTurn(tx, next.team_id)
    const { build } = next
    return {
      ...taken,
      buildId: next.build_id,
      serverId: options.serverId,
      teamId: next.team_id,
      templateId: build.template_id,
      plan: next.plan as BuildPlan,
      builderVersion: build.builder_version ?? 'v2.1.0',
      sealedCredentials: next.sealed_credentials ?? undefined,
      resources: { cpuCount: build.cpu_count, memoryMib: build.memory_mib, diskMib: build.disk_mib },
      formerSandboxId: next.sandbox_id ?? undefined,
      logCount: build.log_count,
    }
  })
}

type Next = NonNullable<Awaited<ReturnType<typeof findNext>>>

async function findNext(tx: Tx) {
  const inWork = sql<number>`(select count(*) from build_job as busy where busy.team_id = build_job.team_id and busy.server_id is not null)`
  const lastTurn = sql<Date>`(select taken_at from build_turn where build_turn.team_id = build_job.team_id)`
  const job = await tx
    .selectFrom('build_job')
    .select(['build_id', 'team_id', 'plan', 'sealed_credentials', 'sandbox_id', 'server_id', 'attempt', 'abandoned'])
    .where((eb) =>
      eb.or([
        eb('server_id', 'is', null),
        eb('lease_until', '<', sql<Date>`clock_timestamp()`),
        eb.and([
          eb('lease_until', '<', sql<Date>`clock_timestamp() + make_interval(secs => ${(LEASE_MS - GONE_SERVER_MS) / 1000})`),
          eb.not(isPresent(sql.ref('build_job.server_id'))),
        ]),
      ]),
    )
    .orderBy(inWork)
    .orderBy(lastTurn, (order) => order.asc().nullsFirst())
    .orderBy('queued_at')
    .orderBy('build_id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (job === undefined) return undefined
  const build = await tx
    .selectFrom('build')
    .select(['template_id', 'builder_version', 'cpu_count', 'memory_mib', 'disk_mib', 'log_count'])
    .where('build_id', '=', job.build_id)
    .executeTakeFirstOrThrow()
  return { ...job, build }
}

type Taken = Pick<ClaimedBuild, 'attempt' | 'abandoned' | 'sandboxId' | 'cancelReason' | 'remainingMs'>

async function take(tx: Tx, next: Next, { serverId, timeoutMs }: ClaimOptions): Promise<Taken> {
  const sandboxId = newBuildSandboxId()
  const { attempt, abandoned, cancel_reason, remaining_ms } = await tx
    .updateTable('build_job')
    .set({
      attempt: next.attempt + 1,
      abandoned: next.abandoned + (next.server_id === null ? 0 : 1),
      server_id: serverId,
      lease_until: leaseEnd(),
      sandbox_id: sandboxId,
      started_at: sql<Date>`coalesce(started_at, clock_timestamp())`,
    })
    .where('build_id', '=', next.build_id)
    .returning(['attempt', 'abandoned', 'cancel_reason', remainingMs(timeoutMs).as('remaining_ms')])
    .executeTakeFirstOrThrow()
  return { attempt, abandoned, sandboxId, cancelReason: cancel_reason ?? undefined, remainingMs: remaining_ms }
}

async function noteTurn(tx: Tx, teamId: string): Promise<void> {
  const now = sql<Date>`clock_timestamp()`
  await tx
    .insertInto('build_turn')
    .values({ team_id: teamId, taken_at: now })
    .onConflict((conflict) => conflict.column('team_id').doUpdateSet({ taken_at: now }))
    .execute()
}
