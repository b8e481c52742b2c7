import { sql } from 'kysely'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Db } from '@sandyard/db/database'
import { shorten } from '../text/shorten.ts'
import type { PageRequest } from './list-templates.ts'
import { NAMED_SOURCES } from './template-queries.ts'
import { isTemplateId } from './template-reference.ts'
import { selectTemplateRows, type TemplateRow } from './template-rows.ts'
import type { BuildRow } from './template-view.ts'

/**
 * A team's template by its exact id: no names, no tags (control-plane.md 9.4).
 *
 * @throws AppError `not_found`, and `permission_denied` for one of another team, public or not
 */
export async function getTemplate(db: Db, teamId: string, templateId: string): Promise<TemplateRow> {
  const row = isTemplateId(templateId) ? await findTemplateRow(db, templateId) : undefined
  if (row === undefined) throw new AppError('not_found', `Template ${shorten(templateId)} not found`)
  if (row.team_id !== teamId) {
    throw new AppError('permission_denied', `You don't have access to this sandbox template (${shorten(templateId)})`)
  }
  return row
}

async function findTemplateRow(db: Db, templateId: string): Promise<TemplateRow | undefined> {
  return selectTemplateRows(db)
    .where('template.template_id', '=', templateId)
    .where('template.source', 'in', NAMED_SOURCES)
    .executeTakeFirst()
}

/** A page of a template's builds, newest first. Returns up to `limit + 1` rows; the extra row only shows that there are more. */
export async function listBuilds(db: Db, templateId: string, { after, limit }: PageRequest): Promise<BuildRow[]> {
  let query = db
    .selectFrom('build')
    .select(['build_id', 'status', 'created_at', 'updated_at', 'finished_at', 'cpu_count', 'memory_mib', 'disk_mib', 'envd_version'])
    .where('template_id', '=', templateId)
  if (after !== undefined) query = query.where(sql<boolean>`(created_at, build_id) < (${after.time}::timestamptz, ${after.id}::uuid)`)
  return query
    .orderBy('created_at', 'desc')
    .orderBy('build_id', 'desc')
    .limit(limit + 1)
    .execute()
}
