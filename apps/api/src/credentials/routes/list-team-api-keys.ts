import { Type } from 'typebox'
import { ListApiKeysQuery, TeamApiKey } from '@sandyard/api-contract/credentials/api-key'
import { Paged } from '@sandyard/api-contract/paging'
import { requireTeam } from '../../administration/require-team.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { TeamParams } from '../../team-metrics/routes/team-params.ts'
import { sendApiKeys } from './send-api-keys.ts'

/** `GET /admin/teams/{teamID}/api-keys`, which is ours: like `GET /api-keys`. */
export const listTeamApiKeysRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listTeamApiKeys'),
    schema: {
      params: TeamParams,
      querystring: ListApiKeysQuery,
      response: { 200: Paged(Type.Array(TeamApiKey)), ...errors(400, 401, 404, 429, 500) },
    },
    handler: async ({ params, query }, reply) => {
      const { db } = ctx.database
      const team = await requireTeam(db, params.teamID)
      return sendApiKeys(reply, db, team.id, query)
    },
  })
