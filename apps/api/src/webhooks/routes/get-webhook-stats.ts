import { WebhookStats, WebhookStatsQuery } from '@sandyard/api-contract/webhooks/webhook-delivery'
import { AppError } from '@sandyard/kit/errors/app-error'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { bucketWidth } from '../../time-series/bucket-width.ts'
import { readInstant } from '../read-instant.ts'
import { assertWebhooks } from '../webhook-parts.ts'
import { getWebhook } from '../webhook-queries.ts'
import { getWebhookStats } from '../webhook-stats.ts'
import { WebhookParams } from './webhook-params.ts'

const DAY_MS = 24 * 3_600_000

/** `GET /events/webhooks/{webhookID}/stats` (dashboard-and-cli.md 2.1): by default of the 24 hours before the end, which is now by default. */
export const getWebhookStatsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getWebhookStats'),
    schema: {
      params: WebhookParams,
      querystring: WebhookStatsQuery,
      response: { 200: WebhookStats, ...errors(400, 401, 403, 404, 429, 500, 501) },
    },
    handler: async ({ principal, params, query }) => {
      assertWebhooks(ctx.config)
      const { db } = ctx.database
      const range = readRange(query)
      const { webhook_id: webhookId } = await getWebhook(db, getTeam(principal).id, params.webhookID)
      const seconds = (Date.parse(range.end) - Date.parse(range.start)) / 1000
      const bucketSeconds = bucketWidth(seconds)
      return { bucketSeconds, buckets: await getWebhookStats(db, { webhookId, ...range, bucketSeconds }) }
    },
  })

function readRange(query: WebhookStatsQuery): { readonly start: string; readonly end: string } {
  const end = query.end === undefined ? new Date().toISOString() : readInstant('end', query.end)
  const dayBefore = new Date(Math.max(0, Date.parse(end) - DAY_MS)).toISOString()
  const start = query.start === undefined ? dayBefore : readInstant('start', query.start)
  if (Date.parse(start) > Date.parse(end)) throw new AppError('invalid_argument', 'start time cannot be after end time')
  return { start, end }
}
