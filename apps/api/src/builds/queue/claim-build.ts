import { sql } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import type { BuilderVersion } from '@sandyard/db/schema/build'
import type { SandboxResources } from '@sandyard/runtime/types'
import type { BuildPlan } from '../build-plan.ts'
import { leaseEnd, newBuildSandboxId, remainingMs, type Attempt, type Orders } from './build-attempt.ts'
import { nextJobOf, requeueAbandoned, waitingTeams } from './queue-queries.ts'

/** A build that a server has just claimed. */
export interface ClaimedBuild extends Attempt, Orders {
  readonly teamId: string
  readonly templateId: string
  readonly plan: BuildPlan
  readonly builderVersion: BuilderVersion
  readonly sealedCredentials: Buffer | undefined
  readonly resources: SandboxResources
  readonly sandboxId: string
  /** The sandbox of the former attempt, which may still exist. */
  readonly formerSandboxId: string | undefined
  /** Attempts whose server died. */
  readonly abandoned: number
  readonly logCount: number
}

export interface ClaimOptions {
  readonly serverId: number
  /** Longest duration of the whole build. */
  readonly timeoutMs: number
  /** Builds of these teams wait. Default: none. */
  readonly servedTeams?: ReadonlySet<string>
}

/**
 * Claims one build that is queued or whose lease has expired. Picks the team with the fewest running builds, then the team that was served
 * longest ago, then its oldest job. Concurrent servers get different builds.
 */
export async function claimBuild(database: Database, options: ClaimOptions): Promise<ClaimedBuild | undefined> {
  return database.transaction(async (tx) => {
    await requeueAbandoned(tx)
    const next = await findNext(tx, options.servedTeams)
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

/** The next job of the first team that has a job that no other server is claiming. */
async function findNext(tx: Tx, servedTeams: ReadonlySet<string> = new Set()) {
  for (const { team_id } of await waitingTeams(tx).execute()) {
    if (servedTeams.has(team_id)) continue
    const job = await nextJobOf(tx, team_id).forUpdate().skipLocked().executeTakeFirst()
    if (job === undefined) continue
    const build = await tx
      .selectFrom('build')
      .select(['template_id', 'builder_version', 'cpu_count', 'memory_mib', 'disk_mib', 'log_count'])
      .where('build_id', '=', job.build_id)
      .executeTakeFirstOrThrow()
    return { ...job, build }
  }
  return undefined
}

type Taken = Pick<ClaimedBuild, 'attempt' | 'abandoned' | 'sandboxId' | 'cancelReason' | 'remainingMs'>

async function take(tx: Tx, next: Next, { serverId, timeoutMs }: ClaimOptions): Promise<Taken> {
  const sandboxId = newBuildSandboxId()
  const { attempt, abandoned, cancel_reason, remaining_ms } = await tx
    .updateTable('build_job')
    .set({
      attempt: next.attempt + 1,
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
