import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'

/** What the metrics say about deliveries to webhooks. */
export interface WebhookCounts {
  /** At most `MAX_COUNTED` each. */
  readonly pending: number
  readonly dead: number
  /** How long the delivery that is due the longest has waited for a server; 0 when none waits. */
  readonly lagSeconds: number
}

/** A page of metrics reads no more index entries for a count. */
const MAX_COUNTED = 100_000

/** A team with deliveries in flight may wait for its receivers, which is no sign of a fault here; nor are webhooks that nothing is sent for. */
export async function readWebhooks(db: Db): Promise<WebhookCounts> {
  const count = (status: string) =>
    sql`(select count(*) from (select from webhook_delivery where status = ${sql.lit(status)} limit ${MAX_COUNTED}) as counted)`
  const { rows } = await sql<WebhookCounts>`
    select ${count('pending')} as pending, ${count('dead')} as dead, coalesce((
      select greatest(0, extract(epoch from clock_timestamp() - min(oldest.due_at)))
      from webhook join team on team.id = webhook.team_id
      cross join lateral (
        select due_at from webhook_delivery as delivery
        where delivery.webhook_id = webhook.webhook_id and status = 'pending' and due_at <= statement_timestamp() order by due_at limit 1
      ) as oldest
      where webhook.enabled and not team.is_banned and not exists (
        select from webhook_delivery join webhook as other using (webhook_id)
        where lease_until is not null and lease_until > statement_timestamp() and other.team_id = webhook.team_id
      )
    ), 0)::double precision as "lagSeconds"
  `.execute(db)
  return rows[0] ?? { pending: 0, dead: 0, lagSeconds: 0 }
}
