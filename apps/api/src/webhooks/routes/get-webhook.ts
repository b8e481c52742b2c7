import { Webhook } from '@sandyard/api-contract/webhooks/webhook'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { assertWebhooks } from '../webhook-parts.ts'
import { getWebhook, toWebhook } from '../webhook-queries.ts'
import { WebhookParams } from './webhook-params.ts'

/** `GET /events/webhooks/{webhookID}` (dashboard-and-cli.md 2.1). */
export const getWebhookRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getWebhook'),
    schema: { params: WebhookParams, response: { 200: Webhook, ...errors(400, 401, 403, 404, 429, 500, 501) } },
    handler: async ({ principal, params }) => {
      assertWebhooks(ctx.config)
      return toWebhook(await getWebhook(ctx.database.db, getTeam(principal).id, params.webhookID))
    },
  })
