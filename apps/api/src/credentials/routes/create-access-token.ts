import { CreatedAccessToken, NewAccessToken } from '@sandyard/api-contract/credentials/access-token'
import { AppError } from '@sandyard/kit/errors/app-error'
import { endOfToken, getUser, requirePrincipal } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { createOnce } from '../../idempotency/create-once.ts'
import { IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { createAccessToken } from '../create-access-token.ts'
import { toCreatedAccessToken } from '../credential-view.ts'
import { issueOnce } from './issue-once.ts'

/** `POST /access-tokens` (control-plane.md 14.1). */
export const createAccessTokenRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('createAccessToken'),
    schema: {
      headers: IdempotencyHeaders,
      body: NewAccessToken,
      response: { 201: CreatedAccessToken, ...errors(400, 401, 410, 422, 429, 500, 503) },
    },
    handler: async ({ principal, headers, body }, reply) => {
      if (!ctx.config.issuesAccessTokens) throw new AppError('gone', 'This server issues no access tokens')
      const by = requirePrincipal(principal)
      const request = {
        operationId: 'createAccessToken' as const,
        ownerId: getUser(by).id,
        endsWith: endOfToken(principal),
        headers,
        schema: NewAccessToken,
        body,
      }
      return issueOnce(ctx, reply, request, (once, endOf) =>
        createOnce(ctx.database, once, async (tx) =>
          toCreatedAccessToken(await createAccessToken(tx, { by, name: body.name, expiresAt: endOf() })),
        ),
      )
    },
  })
