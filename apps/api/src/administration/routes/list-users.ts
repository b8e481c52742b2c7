import { Type } from 'typebox'
import { SearchQuery } from '@sandyard/api-contract/administration/admin-team'
import { AdminUser } from '@sandyard/api-contract/administration/admin-user'
import { Paged } from '@sandyard/api-contract/paging'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { checkStorable } from '../../builds/start/check-storable.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { readPage, takePage } from '../../http/page.ts'
import { listUserRows } from '../../teams/users.ts'
import { toAdminUser } from '../admin-views.ts'

/** `GET /admin/users` (ours). */
export const adminListUsersRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminListUsers'),
    schema: { querystring: SearchQuery, response: { 200: Paged(Type.Array(AdminUser)), ...errors(400, 401, 429, 500) } },
    handler: async ({ query }, reply) => {
      const { search } = query
      checkStorable({ search })
      const wanted = readPage(query, { isId: isUuid })
      const rows = await listUserRows(ctx.database.db, { ...wanted, search })
      const page = takePage(reply, rows, { ...wanted, toCursor: (row) => ({ time: row.exact_time, id: row.id }) })
      return page.map(toAdminUser)
    },
  })
