import { Type, type Static } from 'typebox'
import { LIFECYCLE_TYPES, type LifecycleType } from '../events/sandbox-event.ts'
import { DateTime } from '../times.ts'

/** Shapes of dashboard-and-cli.md 2.1; lengths and `disabledReason` are ours. */

const LifecycleTypeSchema = Type.Unsafe<LifecycleType>({ type: 'string', enum: [...LIFECYCLE_TYPES] })

const fields = {
  name: Type.String({ minLength: 1, maxLength: 128 }),
  url: Type.String({ minLength: 1, maxLength: 2048, description: 'An http or https URL of a public address' }),
  events: Type.Array(LifecycleTypeSchema, { minItems: 1, maxItems: LIFECYCLE_TYPES.length, uniqueItems: true }),
  signatureSecret: Type.String({ minLength: 32, maxLength: 256, description: 'Signs each delivery; it is never shown' }),
}

/** Body of `POST /events/webhooks`. */
export const NewWebhook = Type.Object({ ...fields, enabled: Type.Optional(Type.Boolean({ default: true })) }, { title: 'NewWebhook' })
export type NewWebhook = Static<typeof NewWebhook>

/** Body of `PATCH /events/webhooks/{webhookID}`: absent fields stay. */
export const WebhookUpdate = Type.Object(
  {
    name: Type.Optional(fields.name),
    url: Type.Optional(fields.url),
    events: Type.Optional(fields.events),
    signatureSecret: Type.Optional(fields.signatureSecret),
    enabled: Type.Optional(Type.Boolean({ description: 'False gives up what waits to be sent' })),
  },
  { title: 'WebhookUpdate' },
)
export type WebhookUpdate = Static<typeof WebhookUpdate>

export const Webhook = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    teamId: Type.String({ format: 'uuid' }),
    name: Type.String(),
    url: Type.String(),
    events: Type.Array(Type.String()),
    enabled: Type.Boolean(),
    disabledReason: Type.Optional(Type.String({ description: 'Why the server has disabled it' })),
    createdAt: DateTime('When the webhook was created'),
  },
  { title: 'Webhook' },
)
export type Webhook = Static<typeof Webhook>
