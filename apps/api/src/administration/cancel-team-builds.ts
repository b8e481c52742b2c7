import type { Database, Db } from '@sandyard/db/database'
import { UNFINISHED_BUILD_STATUSES } from '@sandyard/db/schema/build'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { FAILURES } from '../builds/build-failure.ts'
import { cancelBuild } from '../builds/queue/cancel-build.ts'
import { teamTransaction, type LockedTeam } from '../teams/team-transaction.ts'

const PAGE = 100

export interface CancelCounts {
  readonly cancelled: number
  readonly failed: number
}

export interface CancelParts {
  readonly database: Database
  readonly log: Logger
}

/**
 * Cancels the registered, queued and running builds of a team; a running one gets an order to stop. Each page is one transaction. Builds that end or are
 * cancelled meanwhile are not counted; those that are not reached in time have failed.
 */
export async function cancelTeamBuilds({ database, log }: CancelParts, teamId: string, timeoutMs: number): Promise<CancelCounts> {
  const until = performance.now() + timeoutMs
  const counts = { cancelled: 0, failed: 0 }
  for (let after: string | undefined; ;) {
    const page = await listUnfinished(database.db, teamId, after)
    if (page.length === 0) return counts
    if (performance.now() >= until) counts.failed += page.length
    else {
      try {
        counts.cancelled += await teamTransaction(database, { teamId, isUrgent: true }, (team) => cancelPage(team, page))
      } catch (err) {
        log.warn({ err, teamId }, 'builds of a team could not be cancelled')
        counts.failed += page.length
      }
    }
    if (page.length < PAGE) return counts
    after = page.at(-1)
  }
}

function listUnfinished(db: Db, teamId: string, after: string | undefined): Promise<string[]> {
  return db
    .selectFrom('build')
    .innerJoin('template', 'template.template_id', 'build.template_id')
    .leftJoin('build_job', 'build_job.build_id', 'build.build_id')
    .select('build.build_id')
    .where('template.team_id', '=', teamId)
    .where('build.status', 'in', UNFINISHED_BUILD_STATUSES)
    .where('build_job.cancel_reason', 'is', null)
    .$if(after !== undefined, (query) => query.where('build.build_id', '>', after ?? ''))
    .orderBy('build.build_id')
    .limit(PAGE)
    .execute()
    .then((rows) => rows.map(({ build_id: id }) => id))
}

/** To avoid deadlocks, all jobs are locked, then all builds, before the first template; templates in the order of their ids. */
async function cancelPage({ tx }: LockedTeam, ids: readonly string[]): Promise<number> {
  const jobs = await tx
    .selectFrom('build_job')
    .select(['build_id', 'cancel_reason'])
    .where('build_id', 'in', ids)
    .orderBy('build_id')
    .forUpdate()
    .execute()
  const cancelledBefore = new Set(jobs.filter((job) => job.cancel_reason !== null).map(({ build_id: id }) => id))
  const builds = await tx
    .selectFrom('build')
    .select(['build_id', 'template_id'])
    .where('build_id', 'in', ids)
    .where('status', 'in', UNFINISHED_BUILD_STATUSES)
    .orderBy('build_id')
    .forUpdate()
    .execute()
  const toCancel = builds
    .filter(({ build_id: id }) => !cancelledBefore.has(id))
    .toSorted((a, b) => (a.template_id < b.template_id ? -1 : 1))
  for (const { build_id: id } of toCancel) await cancelBuild(tx, id, FAILURES.cancelledByAdmin)
  return toCancel.length
}
