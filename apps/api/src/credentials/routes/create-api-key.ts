import { CreatedTeamApiKey, NewTeamApiKey } from '@sandyard/api-contract/credentials/api-key'
import { endOfToken, getTeam, requirePrincipal } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { createOnceInTeam } from '../../idempotency/create-once.ts'
import { IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { createApiKey } from '../create-api-key.ts'
import { toCreatedApiKey } from '../credential-view.ts'
import { issueOnce } from './issue-once.ts'

/** `POST /api-keys` (control-plane.md 14.2). */
export const createApiKeyRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('createApiKey'),
    schema: {
      headers: IdempotencyHeaders,
      body: NewTeamApiKey,
      response: { 201: CreatedTeamApiKey, ...errors(400, 401, 403, 422, 429, 500, 503) },
    },
    handler: async ({ principal, headers, body }, reply) => {
      const { id: teamId } = getTeam(principal)
      const request = {
        operationId: 'createApiKey' as const,
        ownerId: teamId,
        endsWith: endOfToken(principal),
        headers,
        schema: NewTeamApiKey,
        body,
      }
      const { name, scope } = body
      return issueOnce(ctx, reply, request, (once, endOf) =>
        createOnceInTeam(ctx.database, once, async (team) =>
          toCreatedApiKey(await createApiKey(team, { name, by: requirePrincipal(principal), expiresAt: endOf(), scope })),
        ),
      )
    },
  })
