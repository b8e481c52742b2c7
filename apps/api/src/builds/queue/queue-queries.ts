import { sql, type SelectQueryBuilder } from 'kysely'
import type { Db, Tx } from '@sandyard/db/database'
import type { Tables } from '@sandyard/db/schema/tables'
import { statementTime } from '@sandyard/db/statement-time'

/** More than the number of servers that claim at once. */
const TEAMS = 100
const ABANDONED_AT_ONCE = 100

/**
 * The teams with queued jobs, in the order of their turns. The query jumps through the index and does not read all jobs: a team with many
 * jobs costs no more than one with few.
 */
export function waitingTeams(db: Db): SelectQueryBuilder<Tables & { turns: { team_id: string } }, 'turns', { team_id: string }> {
  return db
    .with('turns', (cte) =>
      cte
        .selectFrom(
          sql<{ team_id: string; in_work: number; taken_at: Date | null; queued_at: Date }>`(
            with recursive waiting as (
              (select team_id from build_job where server_id is null order by team_id limit 1)
              union all
              select (
                select build_job.team_id from build_job
                where server_id is null and build_job.team_id > waiting.team_id order by build_job.team_id limit 1
              )
              from waiting where waiting.team_id is not null
            )
            select waiting.team_id,
              (select count(*) from build_job as busy where busy.team_id = waiting.team_id and busy.server_id is not null) as in_work,
              (select taken_at from build_turn where build_turn.team_id = waiting.team_id) as taken_at,
              (
                select queued_at from build_job
                where server_id is null and build_job.team_id = waiting.team_id order by queued_at, build_id limit 1
              ) as queued_at
            from waiting where waiting.team_id is not null
          )`.as('candidates'),
        )
        .select(['team_id', 'in_work', 'taken_at', 'queued_at']),
    )
    .selectFrom('turns')
    .select('team_id')
    .orderBy('in_work')
    .orderBy('taken_at', (order) => order.asc().nullsFirst())
    .orderBy('queued_at')
    .limit(TEAMS)
}

/** The oldest queued job of a team. */
export function nextJobOf(db: Db, teamId: string) {
  return db
    .selectFrom('build_job')
    .select(['build_id', 'team_id', 'plan', 'sealed_credentials', 'sandbox_id', 'attempt', 'abandoned'])
    .where('team_id', '=', teamId)
    .where('server_id', 'is', null)
    .orderBy('queued_at')
    .orderBy('build_id')
    .limit(1)
}

/** Whether a job is queued, or its lease has expired. */
export async function isBuildWaiting(db: Db): Promise<boolean> {
  const { rows } = await sql<{ is_waiting: boolean }>`
    select exists (select from build_job where server_id is null)
      or exists (select from build_job where server_id is not null and lease_until < ${statementTime()}) as is_waiting
  `.execute(db)
  return rows[0]?.is_waiting === true
}

/** Requeues jobs whose lease has expired. */
export async function requeueAbandoned(tx: Tx): Promise<void> {
  const over = tx
    .selectFrom('build_job')
    .select('build_id')
    .where('server_id', 'is not', null)
    .where('lease_until', '<', statementTime())
    .orderBy('lease_until')
    .limit(ABANDONED_AT_ONCE)
    .forUpdate()
    .skipLocked()
  await tx
    .updateTable('build_job')
    .set((eb) => ({ server_id: null, lease_until: null, abandoned: eb('abandoned', '+', 1) }))
    .where('build_id', 'in', over)
    .execute()
}
