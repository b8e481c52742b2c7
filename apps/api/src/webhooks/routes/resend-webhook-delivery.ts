import { Type } from 'typebox'
import { WebhookResend } from '@sandyard/api-contract/webhooks/webhook-delivery'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { resendDelivery } from '../resend-delivery.ts'
import { assertWebhooks } from '../webhook-parts.ts'

const Params = Type.Object({ webhookID: Type.String(), deliveryID: Type.String() })

/** `POST /events/webhooks/{webhookID}/deliveries/{deliveryID}/resend`, an operation of ours. */
export const resendWebhookDeliveryRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('resendWebhookDelivery'),
    schema: {
      params: Params,
      response: { 202: WebhookResend, ...errors(400, 401, 403, 404, 409, 429, 500, 501) },
    },
    handler: async ({ principal, params }, reply) => {
      assertWebhooks(ctx.config)
      const teamId = getTeam(principal).id
      await ctx.database.transaction((tx) => resendDelivery(tx, { teamId, webhookId: params.webhookID, deliveryId: params.deliveryID }))
      return reply.code(202).send({ webhookId: params.webhookID, deliveryId: params.deliveryID })
    },
  })
