import { Webhook, WebhookUpdate } from '@sandyard/api-contract/webhooks/webhook'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { checkFields } from '../check-fields.ts'
import { assertWebhooks } from '../webhook-parts.ts'
import { getWebhook, toWebhook, updateWebhook } from '../webhook-queries.ts'
import { WebhookParams } from './webhook-params.ts'

/** `PATCH /events/webhooks/{webhookID}` (dashboard-and-cli.md 2.1). */
export const updateWebhookRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('updateWebhook'),
    schema: {
      params: WebhookParams,
      body: WebhookUpdate,
      response: { 200: Webhook, ...errors(400, 401, 403, 404, 429, 500, 501) },
    },
    handler: async ({ principal, params, body }) => {
      const keyRing = assertWebhooks(ctx.config)
      const teamId = getTeam(principal).id
      const { webhook_id: webhookId } = await getWebhook(ctx.database.db, teamId, params.webhookID)
      const changes = await checkFields(body, ctx.webhooks)
      return ctx.database.transaction(async (tx) => toWebhook(await updateWebhook(tx, keyRing, { teamId, webhookId, changes })))
    },
  })
