import { Type } from 'typebox'
import { Webhook } from '@sandyard/api-contract/webhooks/webhook'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { listWebhooks, toWebhook } from '../webhook-queries.ts'
import { assertWebhooks } from '../webhook-parts.ts'

/** `GET /events/webhooks` (dashboard-and-cli.md 2.1). */
export const listWebhooksRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listWebhooks'),
    schema: { response: { 200: Type.Array(Webhook), ...errors(401, 403, 429, 500, 501) } },
    handler: async ({ principal }) => {
      assertWebhooks(ctx.config)
      const rows = await listWebhooks(ctx.database.db, getTeam(principal).id)
      return rows.map(toWebhook)
    },
  })
