import { sql } from 'kysely'
import { MAX_JOB_ITEMS, MAX_TEAM_JOBS } from '@sandyard/dashboard-contract/limits'
import type { NewJobBody } from '@sandyard/dashboard-contract/sandboxes'
import type { Database, Tx } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { teamBlocked } from '../../auth/auth-errors.ts'
import type { Actor } from '../../events/actor.ts'
import { teamTransaction } from '../../teams/team-transaction.ts'
import type { Team } from '../../teams/team.ts'
import { matchingSandboxes } from '../operations/sandboxes/sandbox-sql.ts'

/**
 * Stores an action on many sandboxes. The same request id again makes nothing new.
 *
 * @throws AppError `invalid_argument` for a wrong body or too many sandboxes; `resource_exhausted` for too many jobs of the team;
 * `permission_denied` for a blocked team, which may only kill
 */
export async function makeJob(
  database: Database,
  team: Team,
  { body, actor }: { readonly body: NewJobBody; readonly actor: Actor },
): Promise<void> {
  const { action, ids, match, seconds, requestId } = body
  if ((ids === undefined) === (match === undefined)) throw new AppError('invalid_argument', 'Give either ids or match')
  if ((action === 'extend') !== (seconds !== undefined))
    throw new AppError('invalid_argument', 'Only extend has seconds, and it needs them')
  if (team.isBlocked && action !== 'kill') throw teamBlocked(team.blockedReason)
  await teamTransaction(database, { teamId: team.id }, async ({ tx }) => {
    const known = await tx.selectFrom('dashboard_job').select('team_id').where('job_id', '=', requestId).executeTakeFirst()
    if (known?.team_id === team.id) return
    if (known !== undefined) throw new AppError('conflict', 'The request id is taken: choose another')
    const open = tx.selectFrom('dashboard_job').select('job_id').where('team_id', '=', team.id).where('finished_at', 'is', null)
    if ((await open.limit(MAX_TEAM_JOBS).execute()).length >= MAX_TEAM_JOBS) {
      throw new AppError('resource_exhausted', `The team has ${MAX_TEAM_JOBS} actions under way: wait until one has ended`)
    }
    const chosen = [...new Set(ids ?? (await findMatching(tx, team.id, match ?? {})))]
    await tx
      .insertInto('dashboard_job')
      .values({
        job_id: requestId,
        team_id: team.id,
        action,
        seconds: seconds ?? null,
        actor: JSON.stringify(actor),
        ...(chosen.length === 0 && { finished_at: new Date() }),
      })
      .execute()
    await insertItems(tx, { jobId: requestId, teamId: team.id, ids: chosen, seconds })
  })
}

async function findMatching(tx: Tx, teamId: string, match: NonNullable<NewJobBody['match']>): Promise<string[]> {
  const { rows } = await sql<{ sandbox_id: string }>`
    select sandbox_id from (${matchingSandboxes(teamId, match)}) as matching where list_state <> 'ended' limit ${MAX_JOB_ITEMS + 1}
  `.execute(tx)
  if (rows.length > MAX_JOB_ITEMS) {
    throw new AppError('invalid_argument', `More than ${MAX_JOB_ITEMS} sandboxes match: narrow the filter`)
  }
  return rows.map(({ sandbox_id }) => sandbox_id)
}

/** The new end time is fixed now, so that a repeated item does not add the time twice. */
async function insertItems(
  tx: Tx,
  { jobId, teamId, ids, seconds = 0 }: { jobId: string; teamId: string; ids: readonly string[]; seconds: number | undefined },
): Promise<void> {
  await sql`
    insert into dashboard_job_item (job_id, sandbox_id, message)
    select ${jobId}, id, to_char((select expires_at from sandbox where sandbox_id = id and team_id = ${teamId}) at time zone 'UTC'
      + make_interval(secs => ${seconds}), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    from unnest(${ids}::text[]) as id
  `.execute(tx)
}
