import { NewSecret, SecretInfo } from '@sandyard/api-contract/secrets/secret'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { createOnceInTeam } from '../../idempotency/create-once.ts'
import { IdempotencyHeaders, idempotentOperation } from '../../idempotency/idempotency-header.ts'
import { createSecret } from '../create-secret.ts'
import { toSecretInfo } from '../secret-rows.ts'
import { getKeyRing, SECRETS_SCOPE } from './secrets-scope.ts'

/** `POST /secrets` (control-plane.md 16). */
export const createSecretRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('createSecret'),
    ...SECRETS_SCOPE,
    schema: {
      headers: IdempotencyHeaders,
      body: NewSecret,
      response: { 201: SecretInfo, ...errors(400, 401, 403, 404, 409, 422, 429, 500, 502, 504) },
    },
    handler: async ({ principal, headers, body }, reply) => {
      const { tokenSeed } = ctx.installation
      const teamId = getTeam(principal).id
      const ring = getKeyRing(ctx.config.keyRing)
      const once = idempotentOperation('createSecret', { headers, body }, { tokenSeed, schema: NewSecret })
      const made = await createOnceInTeam(ctx.database, { ...once, tokenSeed, ownerId: teamId }, async (team) =>
        toSecretInfo(await createSecret(team, ring, body)),
      )
      return reply.code(201).send(made)
    },
  })
