import { sql } from 'kysely'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { Database, Tx } from '@sandyard/db/database'
import { UNFINISHED_BUILD_STATUSES } from '@sandyard/db/schema/build'
import { appendEvent } from '../events/event-log.ts'
import { teamTransaction, type LockedTeam } from '../teams/team-transaction.ts'

export interface DeleteParts {
  readonly database: Database
  /** Cancels an unfinished build; implemented by the build queue. */
  readonly cancelBuild: (tx: Tx, buildId: string) => Promise<void>
}

/**
 * Deletes a team's template (control-plane.md 9.6): frees its names, cancels its unfinished builds and keeps its id reserved. Data that
 * sandboxes need stays as long as they do. Does nothing if the template is already deleted.
 *
 * @throws AppError `invalid_argument` while sandboxes of the team use it, and for a default template of the server: creates without a
 * template need it, and the next start of the server would register it again
 */
export async function deleteTemplate(parts: DeleteParts, teamId: string, templateId: string): Promise<void> {
  try {
    // Blocks new sandboxes and builds of the team until the template is deleted.
    await teamTransaction(parts.database, { teamId }, (team) => deleteIn(team, templateId, parts.cancelBuild))
  } catch (cause) {
    throw isAppError(cause) ? cause : new AppError('internal', 'Error when deleting template', { cause })
  }
}

async function deleteIn({ tx, id: teamId }: LockedTeam, templateId: string, cancelBuild: DeleteParts['cancelBuild']): Promise<void> {
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
  for (const buildId of buildIds) await cancelBuild(tx, buildId)
  await appendEvent(tx, { teamId, kind: 'template.deleted', subject: templateId })
}

/** Locks jobs, then builds; the template follows. All code that ends builds uses this order. */
async function lockUnfinishedBuilds(tx: Tx, templateId: string): Promise<string[]> {
  const unfinished = tx
    .selectFrom('build')
    .select('build_id')
    .where('template_id', '=', templateId)
    .where('status', 'in', UNFINISHED_BUILD_STATUSES)
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
