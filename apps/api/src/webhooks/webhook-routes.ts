import type { ApiRoute } from '../http/api-instance.ts'
import { createWebhookRoute } from './routes/create-webhook.ts'
import { deleteWebhookRoute } from './routes/delete-webhook.ts'
import { getWebhookStatsRoute } from './routes/get-webhook-stats.ts'
import { getWebhookRoute } from './routes/get-webhook.ts'
import { listDeadWebhookDeliveriesRoute } from './routes/list-dead-webhook-deliveries.ts'
import { listWebhookDeliveriesRoute } from './routes/list-webhook-deliveries.ts'
import { listWebhooksRoute } from './routes/list-webhooks.ts'
import { resendWebhookDeliveryRoute } from './routes/resend-webhook-delivery.ts'
import { updateWebhookRoute } from './routes/update-webhook.ts'

/** Webhooks (dashboard-and-cli.md 2.1). */
export const webhookRoutes: readonly ApiRoute[] = [
  listWebhooksRoute,
  createWebhookRoute,
  getWebhookRoute,
  updateWebhookRoute,
  deleteWebhookRoute,
  listWebhookDeliveriesRoute,
  listDeadWebhookDeliveriesRoute,
  resendWebhookDeliveryRoute,
  getWebhookStatsRoute,
]
