import { Type } from 'typebox'
import { Team } from '@sandyard/api-contract/teams/team'
import { requirePrincipal } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { listTeamsWithKeys } from '../list-teams.ts'

/** `GET /teams` (control-plane.md 5.2): makes a new API key for every team of the user. */
export const listTeamsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listTeams'),
    schema: { response: { 200: Type.Array(Team), ...errors(401, 429, 500, 503) } },
    handler: async ({ principal }, reply) => {
      const teams = await listTeamsWithKeys(ctx.database, requirePrincipal(principal))
      void reply.header('cache-control', 'no-store')
      return teams.map(({ teamId, name, apiKey, isDefault }) => ({ teamID: teamId, name, apiKey, isDefault }))
    },
  })
