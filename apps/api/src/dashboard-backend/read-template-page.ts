import { sql, type RawBuilder } from 'kysely'
import type { DashboardTemplateSort, DashboardTemplatesQuery } from '@sandyard/api-contract/dashboard-backend/templates'
import { TEMPLATE_DEFAULTS } from '@sandyard/api-contract/builds/register-build'
import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { readCursor, takePage } from '../dashboard/operations/page-cursor.ts'
import { containing, sortableTime, templateName } from '../dashboard/operations/row-texts.ts'
import { selectTemplateRows, type TemplateRow } from '../templates/template-rows.ts'

const DEFAULT_SORT: DashboardTemplateSort = 'updated_at_desc'
const SEPARATOR = '|'

/** Numbers as text that sorts as they do. */
const sortableCount = (count: RawBuilder<unknown>): RawBuilder<string> => sql<string>`lpad((${count})::text, 12, '0')`

/** Texts, compared byte by byte. */
const KEYS: Readonly<Record<string, RawBuilder<string>>> = {
  name: templateName(sql`template.template_id`),
  cpu_count: sortableCount(sql`coalesce(ready.cpu_count, latest.cpu_count, newest.cpu_count, ${TEMPLATE_DEFAULTS.cpuCount})`),
  memory_mb: sortableCount(sql`coalesce(ready.memory_mib, latest.memory_mib, newest.memory_mib, ${TEMPLATE_DEFAULTS.memoryMb})`),
  created_at: sortableTime(sql`template.created_at`),
  updated_at: sortableTime(sql`template.updated_at`),
}

/**
 * Templates of a team and the default ones that it may use. Snapshots are none.
 *
 * @throws AppError `invalid_argument` for a cursor that is not of this sort
 */
export async function readTemplatePage(
  db: Db,
  teamId: string,
  { sort = DEFAULT_SORT, search = '', limit, ...query }: DashboardTemplatesQuery & { readonly limit: number },
): Promise<{ page: TemplateRow[]; nextCursor: string | null }> {
  const isAscending = sort.endsWith('_asc')
  const key = sql<string>`(${KEYS[sort.replace(/_(?:asc|desc)$/, '')] ?? sql`''`}) collate "C"`
  const after = query.cursor === undefined || query.cursor === '' ? undefined : readCursor(query.cursor)
  let found = selectTemplateRows(db)
    .select(key.as('sort_key'))
    .where('template.source', '=', 'template')
    .where((eb) =>
      eb.or([eb('template.team_id', '=', teamId), eb.and([eb('template.is_default', '=', true), eb('template.is_public', '=', true)])]),
    )
  if (query.public !== undefined) found = found.where('template.is_public', '=', query.public)
  if (search.trim() !== '') {
    const pattern = containing(search.trim())
    found = found.where(
      sql<boolean>`(template.template_id ilike ${pattern} or exists (select from template_alias as named
        where named.template_id = template.template_id and concat_ws('/', named.namespace, named.alias) ilike ${pattern}))`,
    )
  }
  if (after !== undefined) {
    const [madeFor, ...rest] = after.key.split(SEPARATOR)
    if (madeFor !== sort) throw new AppError('invalid_argument', 'Cursor was issued for a different sort; clear the cursor and restart')
    const place = sql`(${rest.join(SEPARATOR)} collate "C", ${after.id})`
    found = found.where(sql<boolean>`(${key}, template.template_id) ${sql.raw(isAscending ? '>' : '<')} ${place}`)
  }
  const direction = isAscending ? 'asc' : 'desc'
  const rows = await found
    .orderBy(key, direction)
    .orderBy('template.template_id', direction)
    .limit(limit + 1)
    .execute()
  return takePage(rows, limit, ({ sort_key, template_id }) => ({ key: `${sort}${SEPARATOR}${sort_key}`, id: template_id }))
}
