import { Type } from 'typebox'
import { ListApiKeysQuery, TeamApiKey } from '@sandyard/api-contract/credentials/api-key'
import { Paged } from '@sandyard/api-contract/paging'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { sendApiKeys } from './send-api-keys.ts'

/** `GET /api-keys` (control-plane.md 14.2). */
export const listApiKeysRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listApiKeys'),
    schema: { querystring: ListApiKeysQuery, response: { 200: Paged(Type.Array(TeamApiKey)), ...errors(400, 401, 403, 429, 500) } },
    handler: ({ principal, query }, reply) => sendApiKeys(reply, ctx.database.db, getTeam(principal).id, query),
  })
