import { TAG_GROUP_LIMITS, TagGroupsQuery, TemplateTagGroups } from '@sandyard/api-contract/templates/tag-history'
import { AppError } from '@sandyard/kit/errors/app-error'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { TemplateParams } from '../../templates/routes/template-params.ts'
import { shorten } from '../../text/shorten.ts'
import { listTagGroups, type GroupQuery } from '../tag-groups.ts'
import { toTagGroup } from '../tag-view.ts'
import { getVisibleTemplate } from '../tagged-template.ts'
import { clampLimit } from './clamp-limit.ts'
import { decodeGroupCursor, encodeGroupCursor } from './group-cursor.ts'

/** `GET /templates/{templateID}/tags/groups` and `GET /dashboard-api/templates/{templateID}/tags/groups` (clients-python-2.63.md 7). */
export const listTagGroupsRoute: ApiRoute = (app, ctx) => {
  // The backend of upstream's dashboard has the same operation.
  for (const route of [operation('listTemplateTagGroups'), operation('listDashboardTagGroups')]) {
    app.route({
      ...route,
      schema: {
        params: TemplateParams,
        querystring: TagGroupsQuery,
        response: { 200: TemplateTagGroups, ...errors(400, 401, 403, 404, 429, 500) },
      },
      handler: async ({ principal, params, query }) => {
        const { db } = ctx.database
        const wanted = readQuery(query)
        const { templateId } = await getVisibleTemplate(db, getTeam(principal), params.templateID)
        const groups = await listTagGroups(db, templateId, wanted)
        const page = groups.slice(0, wanted.tagsLimit)
        const last = groups.length > wanted.tagsLimit ? page.at(-1) : undefined
        return { tags: page.map(toTagGroup), nextCursor: last === undefined ? null : encodeGroupCursor(last, wanted.sort) }
      },
    })
  }
}

function readQuery({ sort = 'latest_desc', search = '', tagsCursor, ...limits }: TagGroupsQuery): GroupQuery {
  return {
    sort,
    search: readSearch(search),
    after: tagsCursor === undefined ? undefined : decodeGroupCursor(tagsCursor, sort),
    tagsLimit: clampLimit(limits.tagsLimit, TAG_GROUP_LIMITS.tags),
    assignmentLimit: clampLimit(limits.assignmentLimit, TAG_GROUP_LIMITS.assignments),
  }
}

function readSearch(raw: string): string {
  const search = raw.trim().toLowerCase()
  if (!/^[a-z0-9._-]{0,64}$/.test(search)) throw new AppError('invalid_argument', `Invalid search: ${shorten(search)}`)
  return search
}
