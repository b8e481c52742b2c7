import type { Generated } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

export interface WebhookTable {
  webhook_id: Generated<string>
  team_id: string
  name: string
  url: string
  /** Types of lifecycle events. */
  events: string[]
  enabled: boolean
  /** Why the server has disabled it; null when somebody has. */
  disabled_reason: string | null
  /** The key of the operator that opens `sealed_secret`. */
  key_id: string
  sealed_secret: Buffer
  /** Deliveries that were given up since the last successful one. */
  dead_in_row: Generated<number>
  created_at: CreatedAt
}

export const webhookColumns: Columns<WebhookTable> = {
  webhook_id: 'uuid',
  team_id: 'uuid',
  name: 'text',
  url: 'text',
  events: 'text[]',
  enabled: 'boolean',
  disabled_reason: 'text null',
  key_id: 'text',
  sealed_secret: 'bytea',
  dead_in_row: 'integer',
  created_at: 'timestamp(3) with time zone',
}

/** One event for one webhook. */
export interface WebhookDeliveryTable {
  delivery_id: Generated<string>
  webhook_id: string
  event_id: number
  event_type: string
  /** The JSON text of the event. */
  body: string
  status: Generated<'pending' | 'delivered' | 'dead'>
  attempts: Generated<number>
  /** The attempts since the creation or the last resend. */
  tries: Generated<number>
  due_at: Generated<Date>
  /** Until then one server is sending it. */
  lease_until: Date | null
  /** The time of the event. */
  created_at: Date
}

export const webhookDeliveryColumns: Columns<WebhookDeliveryTable> = {
  delivery_id: 'uuid',
  webhook_id: 'uuid',
  event_id: 'bigint',
  event_type: 'text',
  body: 'text',
  status: 'text',
  attempts: 'integer',
  tries: 'integer',
  due_at: 'timestamp with time zone',
  lease_until: 'timestamp with time zone null',
  created_at: 'timestamp(3) with time zone',
}

export interface WebhookAttemptTable {
  delivery_id: string
  /** From 1. */
  number: number
  webhook_id: string
  at: Date
  ms: number
  http_status: number | null
  /** Null for a successful one. */
  error_class: string | null
}

export const webhookAttemptColumns: Columns<WebhookAttemptTable> = {
  delivery_id: 'uuid',
  number: 'integer',
  webhook_id: 'uuid',
  at: 'timestamp(3) with time zone',
  ms: 'integer',
  http_status: 'integer null',
  error_class: 'text null',
}

/** One row: the place in the event log up to which deliveries have been written. */
export interface WebhookReaderTable {
  only_row: Generated<boolean>
  place: number
}

export const webhookReaderColumns: Columns<WebhookReaderTable> = {
  only_row: 'boolean',
  place: 'bigint',
}

/** A team that the reader goes on without. */
export interface WebhookLateTeamTable {
  team_id: string
  /** The place up to which the deliveries of the team have been written. */
  place: number
}

export const webhookLateTeamColumns: Columns<WebhookLateTeamTable> = {
  team_id: 'uuid',
  place: 'bigint',
}
