import { sql } from 'kysely'
import type { WebhookStatsBucket } from '@sandyard/api-contract/webhooks/webhook-delivery'
import type { Db } from '@sandyard/db/database'
import { toSampleTime } from '../time-series/sample-time.ts'

export interface StatsRequest {
  readonly webhookId: string
  /** RFC 3339, both inclusive. */
  readonly start: string
  readonly end: string
  readonly bucketSeconds: number
}

/** The attempts of a webhook in buckets, oldest first. Buckets without attempts are left out. */
export async function getWebhookStats(db: Db, { webhookId, start, end, bucketSeconds }: StatsRequest): Promise<WebhookStatsBucket[]> {
  const { rows } = await sql<{ at: Date; total: number; failed: number; ms: number }>`
    select to_timestamp(floor(extract(epoch from at) / ${bucketSeconds}) * ${bucketSeconds}) as at, count(*) as total,
      count(*) filter (where error_class is not null) as failed, avg(ms)::float8 as ms
    from webhook_attempt
    where webhook_id = ${webhookId} and at >= ${start}::timestamptz and at <= ${end}::timestamptz
    group by 1 order by 1
  `.execute(db)
  return rows.map(({ at, total, failed, ms }) => ({ ...toSampleTime(at), total, failed, durationMs: ms }))
}
