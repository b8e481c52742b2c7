import { sql } from 'kysely'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Db } from '@sandyard/db/database'
import { isUsableBy } from './template.ts'
import { selectTemplateRows, type TemplateRow } from './template-rows.ts'

/** A position in a list: the last row of the former page. */
interface Position {
  /** RFC 3339. */
  readonly time: string
  readonly id: string
}

export interface PageRequest {
  readonly after: Position | undefined
  readonly limit: number
}

/** Cap of an answer without pages (clients-python-2.63.md 7). */
const MOST_UNPAGED = 5000

/**
 * All templates of a team, oldest first (control-plane.md 9.2).
 *
 * @throws AppError `invalid_argument` when there are too many for one answer
 */
export async function listAllTemplates(db: Db, teamId: string): Promise<TemplateRow[]> {
  const rows = await selectTemplateRows(db)
    .where('template.team_id', '=', teamId)
    .where('template.source', '=', 'template')
    .orderBy('template.created_at')
    .orderBy('template.template_id')
    .limit(MOST_UNPAGED + 1)
    .execute()
  if (rows.length <= MOST_UNPAGED) return rows
  throw new AppError('invalid_argument', `There are more than ${MOST_UNPAGED} templates: use GET /v2/templates, which has pages`)
}

/** A page of a team's templates, newest first. Returns up to `limit + 1` rows; the extra row only shows that there are more. */
export async function listTemplatePage(db: Db, teamId: string, { after, limit }: PageRequest): Promise<TemplateRow[]> {
  let query = selectTemplateRows(db).where('template.team_id', '=', teamId).where('template.source', '=', 'template')
  if (after !== undefined) {
    query = query.where(sql<boolean>`(template.created_at, template.template_id) < (${after.time}::timestamptz, ${after.id})`)
  }
  return query
    .orderBy('template.created_at', 'desc')
    .orderBy('template.template_id', 'desc')
    .limit(limit + 1)
    .execute()
}

/** The default templates of this server, sorted by id: those that the team may use; without a team, all. */
export async function listDefaultTemplates(db: Db, teamId: string | undefined): Promise<TemplateRow[]> {
  const rows = await selectTemplateRows(db).where('template.is_default', '=', true).orderBy('template.template_id').execute()
  return rows.filter((row) => teamId === undefined || isUsableBy({ teamId: row.team_id, isPublic: row.is_public }, teamId))
}
