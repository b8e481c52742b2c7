import { WebhookDeliveries, WebhookDeliveriesQuery } from '@sandyard/api-contract/webhooks/webhook-delivery'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { pageOfDeliveries } from '../page-of-deliveries.ts'
import { readInstant } from '../read-instant.ts'
import { assertWebhooks } from '../webhook-parts.ts'
import { getWebhook } from '../webhook-queries.ts'
import { WebhookParams } from './webhook-params.ts'

/** `GET /events/webhooks/{webhookID}/deliveries` (dashboard-and-cli.md 2.1). */
export const listWebhookDeliveriesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listWebhookDeliveries'),
    schema: {
      params: WebhookParams,
      querystring: WebhookDeliveriesQuery,
      response: { 200: WebhookDeliveries, ...errors(400, 401, 403, 404, 429, 500, 501) },
    },
    handler: async ({ principal, params, query }) => {
      assertWebhooks(ctx.config)
      const { db } = ctx.database
      const { cursor, limit, orderAsc, start, end, deliveryStatus: status, eventType } = query
      const range = { start: start && readInstant('start', start), end: end && readInstant('end', end) }
      const { webhook_id: webhookId } = await getWebhook(db, getTeam(principal).id, params.webhookID)
      return pageOfDeliveries(db, { webhookId, cursor, limit, isAscending: orderAsc, ...range, status, eventType })
    },
  })
