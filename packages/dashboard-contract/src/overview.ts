import { Type, type Static } from 'typebox'
import type { Instant } from './api-shape.ts'
import { oneOf } from './request-fields.ts'
import type { ActorView, SandboxCounts } from './sandboxes.ts'
import type { BuildRow } from './templates.ts'

export const OverviewQuery = Type.Object({ range: Type.Optional(oneOf(['1h', '6h', '24h', '7d'])) }, { additionalProperties: false })
export type OverviewQuery = Static<typeof OverviewQuery>

/** A lifecycle event of the team, for people. */
export interface EventView {
  readonly id: string
  readonly at: Instant
  readonly kind: string
  readonly subject: string
  readonly text: string
  readonly actor: ActorView | null
}

export interface Overview {
  readonly counts: SandboxCounts
  /** At most 60 buckets; `running` is the most at once. */
  readonly series: readonly { readonly at: Instant; readonly running: number; readonly starts: number }[]
  readonly startsInRange: number
  /** Null without a create in the range. */
  readonly createMs: { readonly p50: number; readonly p95: number } | null
  readonly failedBuilds: readonly BuildRow[]
  readonly events: readonly EventView[]
  /** What clients asked for in vain: operations that this server answers with 501. */
  readonly unserved: readonly { readonly operation: string; readonly count: number }[]
}

export interface OverviewApi {
  'GET /overview': { query: OverviewQuery; answer: Overview }
}
