import { Type } from 'typebox'
import { TAG_ASSIGNMENTS_LIMITS, TagAssignmentsQuery, TemplateTagAssignments } from '@sandyard/api-contract/templates/tag-history'
import { AppError } from '@sandyard/kit/errors/app-error'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { decodeCursor, encodeCursor, type Cursor } from '../../http/cursor.ts'
import { errors, operation } from '../../http/operation.ts'
import { isUuid } from '../../templates/template-reference.ts'
import { parseTag } from '../parse-tags.ts'
import { listAssignments } from '../ready-assignments.ts'
import { toTagAssignment } from '../tag-view.ts'
import { getVisibleTemplate } from '../tagged-template.ts'
import { clampLimit } from './clamp-limit.ts'

const TagParams = Type.Object({ templateID: Type.String(), tag: Type.String() })

/** `GET /templates/{templateID}/tags/{tag}/assignments` and `GET /dashboard-api/templates/{templateID}/tags/{tag}/assignments` (clients-python-2.63.md 7). */
export const listTagAssignmentsRoute: ApiRoute = (app, ctx) => {
  // The backend of upstream's dashboard has the same operation.
  for (const route of [operation('listTemplateTagAssignments'), operation('listDashboardTagAssignments')]) {
    app.route({
      ...route,
      schema: {
        params: TagParams,
        querystring: TagAssignmentsQuery,
        response: { 200: TemplateTagAssignments, ...errors(400, 401, 403, 404, 429, 500) },
      },
      handler: async ({ principal, params, query }) => {
        const { db } = ctx.database
        const tag = parseTag(params.tag)
        const after = readCursor(query.cursor)
        const limit = clampLimit(query.limit, TAG_ASSIGNMENTS_LIMITS)
        const { templateId } = await getVisibleTemplate(db, getTeam(principal), params.templateID)
        const rows = await listAssignments(db, templateId, { tag, after, limit })
        const page = rows.slice(0, limit)
        const last = rows.length > limit ? page.at(-1) : undefined
        const nextCursor = last === undefined ? null : encodeCursor({ time: last.exact_time, id: last.assignment_id }, 'desc')
        return { data: page.map(toTagAssignment), nextCursor }
      },
    })
  }
}

function readCursor(token: string | undefined): Cursor | undefined {
  if (token === undefined) return undefined
  const cursor = decodeCursor(token, 'desc')
  if (!isUuid(cursor.id)) throw new AppError('invalid_argument', 'Invalid next token')
  return cursor
}
