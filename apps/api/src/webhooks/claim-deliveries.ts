import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'

/** What a server that has claimed a delivery needs to send it. */
export interface ClaimedDelivery {
  readonly deliveryId: string
  readonly webhookId: string
  readonly body: string
  /** The number of this attempt, from 1; it guards the end of the attempt. */
  readonly attempt: number
  /** Since the creation or the last resend, this one included. */
  readonly tries: number
  readonly url: string
  readonly key_id: string
  readonly sealed_secret: Buffer
}

/** Longer than an attempt takes. Then another server sends the delivery again. */
const LEASE_SECONDS = 30
/** Deliveries in flight over all servers, so that receivers that hang do not keep those of others waiting. */
const MOST = { webhook: 4, team: 16 } as const
/** Arbitrary, but the same in every release. */
const CLAIM_LOCK_KEY = 5_417_906

/**
 * Claims deliveries that are due: those of teams with the fewest in flight first, and of a team the longest waiting. So a team whose receivers hang does not
 * take the turns of others. One server claims at a time, so the limits hold over all; one that finds another at it gets none.
 *
 * @param most of this call
 */
export async function claimDeliveries(database: Database, most: number): Promise<ClaimedDelivery[]> {
  if (most <= 0) return []
  // Most looks find nothing, and one statement costs less than a transaction with a lock.
  const { rows: due } = await sql`
    select from webhook where enabled and exists (
      select from webhook_delivery as delivery
      where delivery.webhook_id = webhook.webhook_id and delivery.status = 'pending' and delivery.due_at <= statement_timestamp()
    ) limit 1
  `.execute(database.db)
  if (due.length === 0) return []
  return database.transaction(async (tx) => {
    const { rows: locks } = await sql<{ locked: boolean }>`select pg_try_advisory_xact_lock(${CLAIM_LOCK_KEY}) as locked`.execute(tx)
    if (locks[0]?.locked !== true) return []
    const { rows } = await sql<ClaimedDelivery>`
      with in_flight as materialized (
        select webhook_id, count(*) as number from webhook_delivery
        where lease_until is not null and lease_until > clock_timestamp() group by webhook_id
      ), candidate as (
        select due.delivery_id, due.due_at, webhook.team_id, row_number() over (partition by webhook.team_id order by due.due_at) as rank
        from webhook
        cross join lateral (
          select delivery_id, due_at from webhook_delivery as delivery
          where delivery.webhook_id = webhook.webhook_id and delivery.status = 'pending' and delivery.due_at <= statement_timestamp()
            and (delivery.lease_until is null or delivery.lease_until <= statement_timestamp())
          order by due_at
          limit greatest(0, ${MOST.webhook} - coalesce((select number from in_flight where in_flight.webhook_id = webhook.webhook_id), 0))
        ) as due
        where webhook.enabled and not exists (select from team where team.id = webhook.team_id and team.is_banned)
      ), chosen as (
        select delivery_id from (
          select delivery_id, due_at, rank + coalesce((
            select sum(number) from in_flight join webhook using (webhook_id) where webhook.team_id = candidate.team_id
          ), 0) as turn
          from candidate
        ) as placed
        where turn <= ${MOST.team} order by turn, due_at limit ${most}
      ), held as (
        select delivery_id from webhook_delivery where delivery_id in (select delivery_id from chosen) order by delivery_id for update skip locked
      )
      update webhook_delivery as delivery
      set lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}), attempts = attempts + 1, tries = tries + 1
      from webhook
      where delivery.delivery_id in (select delivery_id from held) and webhook.webhook_id = delivery.webhook_id
        and delivery.status = 'pending' and (delivery.lease_until is null or delivery.lease_until <= clock_timestamp())
      returning delivery.delivery_id as "deliveryId", delivery.webhook_id as "webhookId", delivery.body, delivery.attempts as attempt,
        delivery.tries, webhook.url, webhook.key_id, webhook.sealed_secret
    `.execute(tx)
    return rows
  })
}
