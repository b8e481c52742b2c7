import type { Webhook, WebhookUpdate } from '@sandyard/api-contract/webhooks/webhook'
import type { WebhookStatsBucket } from '@sandyard/api-contract/webhooks/webhook-delivery'
import { wire } from '../../api/wire.ts'

const DAY_MS = 86_400_000

export function changeWebhook(webhookId: string, body: WebhookUpdate): Promise<unknown> {
  return wire<Webhook>('PATCH', `/events/webhooks/${webhookId}`, { body })
}

export interface WebhookStats {
  readonly bucketSeconds: number
  readonly buckets: readonly WebhookStatsBucket[]
}

/** Of the last 24 hours. */
export async function readStats(webhookId: string, signal: AbortSignal): Promise<WebhookStats> {
  const start = new Date(Date.now() - DAY_MS).toISOString()
  return (await wire<WebhookStats>('GET', `/events/webhooks/${webhookId}/stats`, { query: { start }, signal })).data
}

export function countAttempts({ buckets }: WebhookStats): { readonly total: number; readonly failed: number } {
  return buckets.reduce((sum, { total, failed }) => ({ total: sum.total + total, failed: sum.failed + failed }), { total: 0, failed: 0 })
}

/** 32 random bytes as hex, made in the browser: `crypto.getRandomValues` needs no secure context. */
export function newSecret(): string {
  return [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
