import { sql, type RawBuilder } from 'kysely'
import { Type } from 'typebox'
import { templateId } from '@sandyard/dashboard-contract/request-fields'
import { ListTemplatesQuery, type TemplateRow } from '@sandyard/dashboard-contract/templates'
import type { BuildStatus } from '@sandyard/db/schema/build'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { limitOf, readCursor, takePage } from '../page-cursor.ts'
import { containing, sortableTime, templateName } from '../row-texts.ts'
import { STATE } from '../builds/read-builds.ts'

interface StoredTemplate {
  readonly template_id: string
  readonly names: readonly string[]
  readonly is_public: boolean
  readonly cpu_count: number | null
  readonly memory_mib: number | null
  readonly disk_mib: number | null
  readonly newest_build_id: string | null
  readonly newest_status: BuildStatus | null
  readonly newest_at: Date | null
  readonly build_count: number
  readonly spawn_count: number
  readonly last_spawned_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly user_id: string | null
  readonly user_email: string | null
  readonly sort_key: string
}

const SORT_KEYS: Readonly<Record<NonNullable<ListTemplatesQuery['sort']>, RawBuilder<string>>> = {
  name: sql<string>`lower(${templateName(sql`template.template_id`)})`,
  created: sortableTime(sql`template.created_at`),
  updated: sortableTime(sql`template.updated_at`),
  used: sql<string>`coalesce(${sortableTime(sql`template.last_spawned_at`)}, '')`,
}

function selectTemplates(teamId: string, sortKey: RawBuilder<string>): RawBuilder<StoredTemplate> {
  return sql<StoredTemplate>`
    select template.template_id, template.is_public, template.build_count, template.spawn_count, template.last_spawned_at, template.created_at,
      template.updated_at, newest.cpu_count, newest.memory_mib, newest.disk_mib, newest.build_id as newest_build_id, newest.status as newest_status,
      newest.created_at as newest_at, app_user.id as user_id, app_user.email as user_email, (${sortKey}) collate "C" as sort_key,
      coalesce((select jsonb_agg(case when namespace is null then alias else namespace || '/' || alias end order by created_at, alias)
        from template_alias where template_alias.template_id = template.template_id), '[]') as names
    from template
    left join app_user on app_user.id = template.created_by
    left join lateral (select * from build where build.template_id = template.template_id order by created_at desc, build_id limit 1) as newest on true
    where template.team_id = ${teamId} and template.source = 'template' and template.deleted_at is null`
}

function toRow(row: StoredTemplate): TemplateRow {
  return {
    templateId: row.template_id,
    names: row.names,
    isPublic: row.is_public,
    cpuCount: row.cpu_count ?? 0,
    memoryMib: row.memory_mib ?? 0,
    diskMib: row.disk_mib ?? 0,
    newestBuild:
      row.newest_build_id === null || row.newest_status === null || row.newest_at === null
        ? null
        : { buildId: row.newest_build_id, status: STATE[row.newest_status], at: row.newest_at.toISOString() },
    buildCount: row.build_count,
    spawnCount: row.spawn_count,
    lastUsedAt: row.last_spawned_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    createdBy: row.user_id === null ? null : { kind: 'user', id: row.user_id, label: row.user_email ?? '' },
  }
}

/** `GET /templates` */
const listTemplatesRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /templates',
    schema: { querystring: ListTemplatesQuery },
    whileBlocked: true,
    handle: async ({ team, query }) => {
      const { search = '', sort = 'updated', order = sort === 'name' ? 'asc' : 'desc' } = query
      const limit = limitOf(query)
      const after = readCursor(query.cursor)
      const [comparison, direction] = order === 'asc' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`]
      const place =
        after === undefined ? sql`true` : sql`(sort_key, template_id) ${comparison} (${after.key} collate "C", ${after.id} collate "C")`
      const { rows } = await sql<StoredTemplate>`
        select * from (${selectTemplates(team.id, SORT_KEYS[sort])}) as matching
        where ${place} and (template_id ilike ${containing(search.trim())} or names::text ilike ${containing(search.trim())})
        order by sort_key ${direction}, template_id collate "C" ${direction} limit ${limit + 1}
      `.execute(ctx.database.db)
      const { page, nextCursor } = takePage(rows, limit, ({ sort_key, template_id }) => ({ key: sort_key, id: template_id }))
      return { data: page.map(toRow), nextCursor }
    },
  })

/** `GET /templates/{templateId}` */
const getTemplateRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /templates/{templateId}',
    schema: { params: Type.Object({ templateId }) },
    whileBlocked: true,
    handle: async ({ team, params }) => {
      const { rows } =
        await sql<StoredTemplate>`${selectTemplates(team.id, sql<string>`''`)} and template.template_id = ${params.templateId}`.execute(
          ctx.database.db,
        )
      const [row] = rows
      if (row === undefined) throw new AppError('not_found', `Template '${params.templateId}' not found`)
      return toRow(row)
    },
  })

export const templateRoutes: readonly ApiRoute[] = [listTemplatesRoute, getTemplateRoute]
