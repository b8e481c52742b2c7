import { SecretInfo, SecretPath, SecretUpdate } from '@sandyard/api-contract/secrets/secret'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { createOnce } from '../../idempotency/create-once.ts'
import { IdempotencyHeaders, idempotentOperation } from '../../idempotency/idempotency-header.ts'
import { toSecretInfo } from '../secret-rows.ts'
import { updateSecret } from '../update-secret.ts'
import { getKeyRing, SECRETS_SCOPE } from './secrets-scope.ts'

/** `POST /secrets/{secretID}` (control-plane.md 16). */
export const updateSecretRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('updateSecret'),
    ...SECRETS_SCOPE,
    schema: {
      params: SecretPath,
      headers: IdempotencyHeaders,
      body: SecretUpdate,
      response: { 200: SecretInfo, ...errors(400, 401, 403, 404, 409, 422, 429, 500, 502, 504) },
    },
    handler: async ({ principal, params, headers, body }) => {
      const { tokenSeed } = ctx.installation
      const teamId = getTeam(principal).id
      const ring = getKeyRing(ctx.config.keyRing)
      const idOrName = params.secretID
      const once = idempotentOperation(
        'updateSecret',
        { headers, body },
        { tokenSeed, schema: SecretUpdate, target: idOrName.toLowerCase() },
      )
      return createOnce(ctx.database, { ...once, tokenSeed, ownerId: teamId }, async (tx) =>
        toSecretInfo(await updateSecret(tx, ring, { teamId, idOrName, body })),
      )
    },
  })
