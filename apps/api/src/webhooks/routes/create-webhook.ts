import { NewWebhook, Webhook } from '@sandyard/api-contract/webhooks/webhook'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { createOnceInTeam } from '../../idempotency/create-once.ts'
import { IdempotencyHeaders, idempotentOperation } from '../../idempotency/idempotency-header.ts'
import { checkFields } from '../check-fields.ts'
import { createWebhook, toWebhook } from '../webhook-queries.ts'
import { assertWebhooks } from '../webhook-parts.ts'

/** `POST /events/webhooks` (dashboard-and-cli.md 2.1). */
export const createWebhookRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('createWebhook'),
    schema: {
      body: NewWebhook,
      headers: IdempotencyHeaders,
      response: { 201: Webhook, ...errors(400, 401, 403, 422, 429, 500, 501, 503) },
    },
    handler: async ({ principal, body, headers }, reply) => {
      const keyRing = assertWebhooks(ctx.config)
      const { tokenSeed } = ctx.installation
      const teamId = getTeam(principal).id
      const once = idempotentOperation('createWebhook', { headers, body }, { tokenSeed, schema: NewWebhook })
      const { enabled = true } = body
      const fields = { ...body, ...(await checkFields(body, ctx.webhooks)), enabled }
      const made = await createOnceInTeam(ctx.database, { ...once, tokenSeed, ownerId: teamId }, async (team) =>
        toWebhook(await createWebhook(team, keyRing, fields)),
      )
      return reply.code(201).send(made)
    },
  })
