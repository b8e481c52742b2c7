import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import type { TemplateTable } from '@sandyard/db/schema/template'
import { randomId } from '@sandyard/kit/ids/ids'

export interface NewTemplate {
  readonly teamId: string
  readonly source: TemplateTable['source']
  /** The creator. */
  readonly userId: string | undefined
  /** Usable by every team. Default: false. */
  readonly isPublic?: boolean
}

const TEMPLATE_ID_LENGTH = 20

/** Inserts a template without names and builds. @returns its id */
export async function insertTemplate(tx: Tx, { teamId, source, userId, isPublic = false }: NewTemplate): Promise<string> {
  const templateId = randomId(TEMPLATE_ID_LENGTH)
  await tx
    .insertInto('template')
    .values((eb) => ({
      template_id: templateId,
      team_id: teamId,
      source,
      is_public: isPublic,
      // The user may have been deleted since authentication.
      created_by: userId === undefined ? null : eb.selectFrom('app_user').select('app_user.id').where('app_user.id', '=', userId),
    }))
    .execute()
  return templateId
}

/** Adds one to the number of builds. False when the template was deleted. */
export async function countBuild(tx: Tx, templateId: string): Promise<boolean> {
  const counted = await tx
    .updateTable('template')
    .set((eb) => ({ build_count: eb('build_count', '+', 1), updated_at: sql<Date>`clock_timestamp()` }))
    .where('template_id', '=', templateId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return counted.numUpdatedRows > 0n
}
