import { sql } from 'kysely'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { Database, Tx } from '@sandyard/db/database'
import { FAILURES } from '../builds/build-failure.ts'
import { cancelBuild } from '../builds/queue/cancel-build.ts'
import { UNFINISHED_STATUSES } from '../builds/queue/settle-build.ts'
import { appendEvent } from '../events/event-log.ts'
import { lockTeam } from '../teams/lock-team.ts'

/**
 * Deletes a team's template (control-plane.md 9.6): its names are free again, its unfinished builds are cancelled, and its id
 * stays reserved. What sandboxes need of it stays as long as they do. Nothing changes when it is deleted already.
 *
 * @throws AppError `invalid_argument` while sandboxes of the team use it, and for a template that the server brings along: every
 * team's creates without a template stand on it, and the next start of the server would bring it back
 */
export async function deleteTemplate(database: Database, teamId: string, templateId: string): Promise<void> {
  try {
    await database.transaction((tx) => deleteIn(tx, teamId, templateId))
  } catch (cause) {
    throw isAppError(cause) ? cause : new AppError('internal', 'Error when deleting template', { cause })
  }
}

async function deleteIn(tx: Tx, teamId: string, templateId: string): Promise<void> {
  // Keeps the team's new sandboxes and builds away until it is gone.
  await lockTeam(tx, teamId)
  const buildIds = await lockUnfinishedBuilds(tx, templateId)
  const template = await tx
    .selectFrom('template')
    .select(['deleted_at', 'is_default'])
    .where('template_id', '=', templateId)
    .forUpdate()
    .executeTakeFirst()
  if (template === undefined || template.deleted_at !== null) return
  if (template.is_default) throw refusal(templateId, 'it is one of the default templates of this server')
  await refuseWhileUsed(tx, teamId, templateId)
  await tx
    .updateTable('template')
    .set({ deleted_at: sql<Date>`clock_timestamp()`, updated_at: sql<Date>`clock_timestamp()` })
    .where('template_id', '=', templateId)
    .execute()
  await tx.deleteFrom('template_alias').where('template_id', '=', templateId).execute()
  for (const buildId of buildIds) await cancelBuild(tx, buildId, FAILURES.cancelled)
  await appendEvent(tx, { teamId, kind: 'template.deleted', subject: templateId })
}

/** Jobs, then builds, and the template after them: the order of everything that ends a build. */
async function lockUnfinishedBuilds(tx: Tx, templateId: string): Promise<string[]> {
  const unfinished = tx
    .selectFrom('build')
    .select('build_id')
    .where('template_id', '=', templateId)
    .where('status', 'in', UNFINISHED_STATUSES)
    .orderBy('build_id')
  await tx.selectFrom('build_job').select('build_id').where('build_id', 'in', unfinished).orderBy('build_id').forUpdate().execute()
  const builds = await unfinished.forUpdate().execute()
  return builds.map(({ build_id }) => build_id)
}

async function refuseWhileUsed(tx: Tx, teamId: string, templateId: string): Promise<void> {
  const used = await tx
    .selectFrom('sandbox')
    .select((eb) => eb.fn<boolean>('bool_or', [eb('state', '<>', 'paused')]).as('is_live'))
    .where('template_id', '=', templateId)
    .where('team_id', '=', teamId)
    .where('state', '<>', 'killing')
    .executeTakeFirstOrThrow()
  if (used.is_live === null) return
  throw refusal(templateId, `there are ${used.is_live ? 'running' : 'paused'} sandboxes using it`)
}

function refusal(templateId: string, why: string): AppError {
  return new AppError('invalid_argument', `cannot delete template '${templateId}' because ${why}`)
}
