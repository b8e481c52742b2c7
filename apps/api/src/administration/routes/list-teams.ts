import { Type } from 'typebox'
import { AdminTeam, SearchQuery } from '@sandyard/api-contract/administration/admin-team'
import { Paged } from '@sandyard/api-contract/paging'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { checkStorable } from '../../builds/start/check-storable.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { readPage, takePage } from '../../http/page.ts'
import { listTeamRows } from '../../teams/team-rows.ts'
import { settingLimits, toAdminTeam } from '../admin-views.ts'

/** `GET /admin/teams` (ours). */
export const adminListTeamsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminListTeams'),
    schema: { querystring: SearchQuery, response: { 200: Paged(Type.Array(AdminTeam)), ...errors(400, 401, 429, 500) } },
    handler: async ({ query }, reply) => {
      const { search } = query
      checkStorable({ search })
      const wanted = readPage(query, { isId: isUuid })
      const rows = await listTeamRows(ctx.database.db, { ...wanted, search })
      const page = takePage(reply, rows, { ...wanted, toCursor: (row) => ({ time: row.exact_time, id: row.id }) })
      const settings = settingLimits(ctx.config)
      return page.map((row) => toAdminTeam(row, settings))
    },
  })
