import { Type } from 'typebox'
import { TeamMember } from '@sandyard/api-contract/administration/admin-user'
import { Paged, PagingQuery } from '@sandyard/api-contract/paging'
import { isUuid } from '@sandyard/kit/ids/uuid'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { readPage, takePage } from '../../http/page.ts'
import { listMembers } from '../../teams/members.ts'
import { toTeamMember } from '../admin-views.ts'
import { requireTeam } from '../require-team.ts'
import { AdminTeamParams } from './admin-params.ts'

/** `GET /admin/teams/{teamID}/members` (ours). */
export const adminListMembersRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminListMembers'),
    schema: {
      params: AdminTeamParams,
      querystring: PagingQuery,
      response: { 200: Paged(Type.Array(TeamMember)), ...errors(400, 401, 404, 429, 500) },
    },
    handler: async ({ params, query }, reply) => {
      const { db } = ctx.database
      const wanted = readPage(query, { isId: isUuid })
      const { id } = await requireTeam(db, params.teamID)
      const rows = await listMembers(db, id, wanted)
      const page = takePage(reply, rows, { ...wanted, toCursor: (row) => ({ time: row.exact_time, id: row.user_id }) })
      return page.map(toTeamMember)
    },
  })
