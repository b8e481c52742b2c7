import { sql } from 'kysely'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Database, Tx } from '@sandyard/db/database'
import { appendEvent } from '../events/event-log.ts'
import type { Team } from '../teams/team.ts'
import { shorten } from '../text/shorten.ts'
import { findAliasHolder, lockTemplate } from './template-queries.ts'
import { listNames } from './template-rows.ts'

export interface TemplateChange {
  readonly templateId: string
  /** The template as the request named it. */
  readonly givenId: string
  readonly isPublic: boolean | undefined
  /**
   * A template that becomes public also gets its name without a namespace, visible to every team. Old clients expect it (control-plane.md
   * 9.5).
   */
  readonly promotes: boolean
  /** Names without a namespace that belong to the templates of the server. */
  readonly reserved: ReadonlySet<string>
}

/**
 * Changes the visibility of a template (control-plane.md 9.5); without a change it only returns the names. If another template has the bare
 * name, this is a conflict, but the template is public by then, as the message says.
 *
 * @returns the template's names
 * @throws AppError `not_found` when the template was deleted meanwhile, `conflict` for a bare name that is taken
 */
export async function updateTemplate(database: Database, team: Team, change: TemplateChange): Promise<string[]> {
  const { templateId, isPublic, promotes } = change
  const { names, taken } = await database.transaction(async (tx) => {
    await setVisibility(tx, change)
    const taken = promotes && isPublic === true ? await promote(tx, change, team.slug) : undefined
    if (isPublic !== undefined) {
      await appendEvent(tx, { teamId: team.id, kind: 'template.updated', subject: templateId, data: { isPublic } })
    }
    return { names: await listNames(tx, templateId), taken }
  })
  if (taken !== undefined) throw nameTaken(taken, team.slug)
  return names
}

async function setVisibility(tx: Tx, { templateId, givenId, isPublic }: TemplateChange): Promise<void> {
  if (!(await lockTemplate(tx, templateId))) {
    throw new AppError('not_found', `Template '${shorten(givenId)}' not found or you don't have access to it`)
  }
  if (isPublic === undefined) return
  await tx
    .updateTable('template')
    .set({ is_public: isPublic, updated_at: sql<Date>`clock_timestamp()` })
    .where('template_id', '=', templateId)
    .execute()
}

/** Gives the template the bare form of its first name. Returns that name if another template has it. */
async function promote(tx: Tx, { templateId, reserved }: TemplateChange, slug: string): Promise<string | undefined> {
  const own = await tx
    .selectFrom('template_alias')
    .select('alias')
    .where('template_id', '=', templateId)
    .where('namespace', '=', slug)
    .orderBy('created_at')
    .orderBy('alias')
    .limit(1)
    .executeTakeFirst()
  if (own === undefined) return undefined
  const { alias } = own
  if (reserved.has(alias)) return alias
  // A bare name resolves before an id with the same text, so it must not hide a template.
  const isId = await tx.selectFrom('template').select('template_id').where('template_id', '=', alias).executeTakeFirst()
  if (isId !== undefined) return alias
  await tx
    .insertInto('template_alias')
    .values({ alias, namespace: null, template_id: templateId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await findAliasHolder(tx, alias, null)) === templateId ? undefined : alias
}

function nameTaken(alias: string, slug: string): AppError {
  return new AppError(
    'conflict',
    `Public template name '${alias}' is already taken. Your template is available at '${slug}/${alias}'. ` +
      'Please update your CLI to remove this error message.',
  )
}
