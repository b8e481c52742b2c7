import { DeadDeliveriesQuery, WebhookDeliveries } from '@sandyard/api-contract/webhooks/webhook-delivery'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { pageOfDeliveries } from '../page-of-deliveries.ts'
import { assertWebhooks } from '../webhook-parts.ts'
import { getWebhook } from '../webhook-queries.ts'
import { WebhookParams } from './webhook-params.ts'

/** `GET /events/webhooks/{webhookID}/dead`, an operation of ours. */
export const listDeadWebhookDeliveriesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listDeadWebhookDeliveries'),
    schema: {
      params: WebhookParams,
      querystring: DeadDeliveriesQuery,
      response: { 200: WebhookDeliveries, ...errors(400, 401, 403, 404, 429, 500, 501) },
    },
    handler: async ({ principal, params, query }) => {
      assertWebhooks(ctx.config)
      const { db } = ctx.database
      const { webhook_id: webhookId } = await getWebhook(db, getTeam(principal).id, params.webhookID)
      return pageOfDeliveries(db, { webhookId, cursor: query.cursor, limit: query.limit, isAscending: false, status: 'dead' })
    },
  })
