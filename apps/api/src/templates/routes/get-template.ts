import { AppError } from '@sandyard/kit/errors/app-error'
import { DEFAULT_PAGE_SIZE, Paged, PagingQuery } from '@sandyard/api-contract/paging'
import { TemplateWithBuilds } from '@sandyard/api-contract/templates/template-with-builds'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { decodeCursor, encodeCursor, type Cursor } from '../../http/cursor.ts'
import { errors, operation } from '../../http/operation.ts'
import { getTemplate, listBuilds } from '../get-template.ts'
import { isUuid } from '../template-reference.ts'
import { toTemplateWithBuilds } from '../template-view.ts'
import { TemplateParams } from './template-params.ts'

/** `GET /templates/{templateID}`: a template and a page of its builds (control-plane.md 9.4). */
export const getTemplateRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getTemplate'),
    schema: {
      params: TemplateParams,
      querystring: PagingQuery,
      response: { 200: Paged(TemplateWithBuilds), ...errors(400, 401, 403, 404, 429, 500) },
    },
    handler: async ({ principal, params, query }, reply) => {
      const { db } = ctx.database
      const template = await getTemplate(db, getTeam(principal).id, params.templateID)
      const limit = query.limit ?? DEFAULT_PAGE_SIZE
      const rows = await listBuilds(db, template.template_id, { after: readCursor(query.nextToken), limit })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      if (rows.length > limit && last !== undefined) {
        void reply.header('x-next-token', encodeCursor({ time: last.created_at, id: last.build_id }, 'desc'))
      }
      return toTemplateWithBuilds(template, page)
    },
  })

function readCursor(token: string | undefined): Cursor | undefined {
  if (token === undefined) return undefined
  const cursor = decodeCursor(token, 'desc')
  if (!isUuid(cursor.id)) throw new AppError('invalid_argument', 'Invalid next token')
  return cursor
}
