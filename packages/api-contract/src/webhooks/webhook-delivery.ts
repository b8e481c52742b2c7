import { Type, type Static } from 'typebox'
import { LIFECYCLE_TYPES, type LifecycleType } from '../events/sandbox-event.ts'
import { Nullable } from '../nullable.ts'
import { DateTime } from '../times.ts'

/** Shapes of dashboard-and-cli.md 2.1; names inside of attempts and of statistics are ours. */

const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

export const ERROR_CLASSES = [
  'http_error',
  'dns_error',
  'timeout',
  'transport_error',
  'request_error',
  'signature_error',
  'canceled',
] as const
export type ErrorClass = (typeof ERROR_CLASSES)[number]

const Status = Type.Unsafe<DeliveryStatus>({ type: 'string', enum: [...DELIVERY_STATUSES] })
const Instant = (description: string) => Type.String({ maxLength: 64, description: `${description}: RFC 3339, or seconds of Unix time` })

const page = {
  cursor: Type.Optional(Type.String({ description: 'The nextCursor of the previous page' })),
  limit: Type.Optional(
    Type.Integer({ format: 'int32', minimum: 1, maximum: 100, default: 25, description: 'Maximum number of items a page' }),
  ),
}

const range = {
  start: Type.Optional(Instant('Oldest time')),
  end: Type.Optional(Instant('Newest time')),
}

/** Query of `GET /events/webhooks/{webhookID}/deliveries`. */
export const WebhookDeliveriesQuery = Type.Object({
  ...page,
  ...range,
  orderAsc: Type.Optional(Type.Boolean({ default: false, description: 'Oldest first' })),
  deliveryStatus: Type.Optional(Status),
  eventType: Type.Optional(Type.Unsafe<LifecycleType>({ type: 'string', enum: [...LIFECYCLE_TYPES] })),
})
export type WebhookDeliveriesQuery = Static<typeof WebhookDeliveriesQuery>

/** Query of `GET /events/webhooks/{webhookID}/dead`, an operation of ours. */
export const DeadDeliveriesQuery = Type.Object(page)

/** Query of `GET /events/webhooks/{webhookID}/stats`. */
export const WebhookStatsQuery = Type.Object(range)
export type WebhookStatsQuery = Static<typeof WebhookStatsQuery>

const WebhookAttempt = Type.Object(
  {
    number: Type.Integer({ format: 'int32', minimum: 1 }),
    timestamp: DateTime('When the attempt began'),
    durationMs: Type.Integer({ format: 'int32', minimum: 0 }),
    httpStatus: Nullable(Type.Integer({ format: 'int32', description: 'Of the answer; null without one' })),
    errorClass: Type.Unsafe<ErrorClass | null>({
      type: ['string', 'null'],
      enum: [...ERROR_CLASSES, null],
      description: 'Null for a successful attempt',
    }),
  },
  { title: 'WebhookAttempt' },
)

/** An event for a webhook, with what was tried: the last 50 attempts. */
export const WebhookDelivery = Type.Object(
  {
    deliveryId: Type.String({ format: 'uuid' }),
    eventId: Type.String(),
    eventType: Type.String(),
    status: Status,
    createdAt: DateTime('When the event happened'),
    nextAttemptAt: Nullable(Type.String({ format: 'date-time', description: 'When it is sent again; null if it is not' })),
    attempts: Type.Array(WebhookAttempt, { description: 'Oldest first' }),
  },
  { title: 'WebhookDelivery' },
)
export type WebhookDelivery = Static<typeof WebhookDelivery>

export const WebhookDeliveries = Type.Object(
  {
    data: Type.Array(WebhookDelivery),
    nextCursor: Nullable(Type.String({ description: 'Cursor of the next page; null on the last one' })),
  },
  { title: 'WebhookDeliveriesResponse' },
)

const WebhookStatsBucket = Type.Object(
  {
    timestamp: DateTime('The start of the bucket'),
    timestampUnix: Type.Integer({ format: 'int64' }),
    total: Type.Integer({ format: 'int32', description: 'Attempts' }),
    failed: Type.Integer({ format: 'int32', description: 'Attempts without success' }),
    durationMs: Type.Number({ description: 'Mean duration of the attempts' }),
  },
  { title: 'WebhookStatsBucket' },
)
export type WebhookStatsBucket = Static<typeof WebhookStatsBucket>

/** Buckets without attempts are left out. */
export const WebhookStats = Type.Object(
  { bucketSeconds: Type.Integer({ format: 'int32' }), buckets: Type.Array(WebhookStatsBucket, { description: 'Oldest first' }) },
  { title: 'WebhookStats' },
)

/** Answer of `POST /events/webhooks/{webhookID}/deliveries/{deliveryID}/resend`, an operation of ours. */
export const WebhookResend = Type.Object({ webhookId: Type.String(), deliveryId: Type.String() }, { title: 'WebhookResend' })
