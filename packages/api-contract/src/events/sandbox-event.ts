import { Type, type Static } from 'typebox'
import { DateTime } from '../times.ts'

const fields = {
  id: Type.String(),
  version: Type.String({ description: 'Version of this shape' }),
  type: Type.String(),
  timestamp: DateTime('When it happened'),
  sandboxId: Type.String(),
  sandboxExecutionId: Type.String({ description: 'The run of the sandbox: another one after each resume' }),
  sandboxTemplateId: Type.String(),
  sandboxBuildId: Type.String({ format: 'uuid' }),
  sandboxTeamId: Type.String({ format: 'uuid' }),
  eventData: Type.Record(Type.String(), Type.Unknown(), { description: 'The actor, and what the type adds' }),
}

/** An item of `GET /sandboxes/{sandboxID}/events`, an operation of ours. */
export const SandboxEvent = Type.Object(
  { ...fields, place: Type.Integer({ description: 'Position for `after`: it only grows' }) },
  { title: 'SandboxEvent' },
)
export type SandboxEvent = Static<typeof SandboxEvent>

/** Query of `GET /sandboxes/{sandboxID}/events`. */
export const SandboxEventsQuery = Type.Object({
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'The place of the last event of the former page',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
})

/** An item of `GET /events/sandboxes` (dashboard-and-cli.md 2.1). */
export const LifecycleEvent = Type.Object(fields, { title: 'LifecycleEvent' })
export type LifecycleEvent = Static<typeof LifecycleEvent>

export const LIFECYCLE_TYPES = [
  'sandbox.lifecycle.created',
  'sandbox.lifecycle.updated',
  'sandbox.lifecycle.paused',
  'sandbox.lifecycle.resumed',
  'sandbox.lifecycle.checkpointed',
  'sandbox.lifecycle.killed',
] as const
export type LifecycleType = (typeof LIFECYCLE_TYPES)[number]

const LifecycleTypeSchema = Type.Unsafe<LifecycleType>({ type: 'string', enum: [...LIFECYCLE_TYPES] })
/** Events that a page can skip; who needs more reads with a cursor. */
const MAX_OFFSET = 100_000

/** Query of `GET /events/sandboxes` and `GET /events/sandboxes/{sandboxID}`. */
export const LifecycleEventsQuery = Type.Object({
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OFFSET, default: 0 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
  orderAsc: Type.Optional(Type.Boolean({ default: false, description: 'Oldest first' })),
  // One value of a query is no list.
  types: Type.Optional(
    Type.Union([LifecycleTypeSchema, Type.Array(LifecycleTypeSchema, { maxItems: LIFECYCLE_TYPES.length })], {
      description: 'Repeated; all when absent',
    }),
  ),
})
export type LifecycleEventsQuery = Static<typeof LifecycleEventsQuery>
