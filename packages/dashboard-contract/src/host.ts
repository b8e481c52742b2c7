import { Type, type Static } from 'typebox'
import type { Instant } from './api-shape.ts'
import { oneOf } from './request-fields.ts'

export type CheckLevel = 'ok' | 'warn' | 'fail' | 'skipped'

/** One check of doctor, with the same ids as `sandyard doctor`. */
export interface HostCheck {
  readonly id: string
  readonly title: string
  readonly level: CheckLevel
  readonly found: string
  readonly why: string
  readonly todo: string | null
  readonly commands: readonly string[]
  readonly dismissedUntil: Instant | null
}

export interface HostView {
  readonly cpuPct: number | null
  readonly memoryUsedBytes: number
  readonly memoryTotalBytes: number
  readonly diskUsedBytes: number | null
  readonly diskTotalBytes: number | null
  readonly pool: { readonly waiting: number; readonly wanted: number }
  /** Of the last look at the engine; null before it. The bytes are what their removal frees at most. */
  readonly orphans: { readonly count: number; readonly bytes: number } | null
  readonly running: number
  readonly paused: number
  readonly teams: readonly { readonly teamId: string; readonly name: string; readonly running: number; readonly limit: number }[]
  readonly createMs: { readonly p50: number; readonly p95: number } | null
  readonly slowCreates: readonly { readonly sandboxId: string; readonly at: Instant; readonly ms: number }[]
  readonly versions: Readonly<Record<string, string>>
  readonly startedAt: Instant
}

export interface HealthReport {
  readonly state: 'never' | 'running' | 'done' | 'failed'
  readonly ranAt: Instant | null
  readonly isDeep: boolean
  readonly message: string | null
  readonly checks: readonly HostCheck[]
}

export interface Orphan {
  readonly id: string
  readonly kind: 'sandbox' | 'container' | 'network' | 'volume' | 'image'
  readonly name: string
  readonly createdAt: Instant | null
  readonly bytes: number | null
  /** Another installation's: never removed from here. */
  readonly isForeign: boolean
}

export const RunHealthBody = Type.Object({ deep: Type.Optional(Type.Boolean()) }, { additionalProperties: false })
export type RunHealthBody = Static<typeof RunHealthBody>

export const DismissBody = Type.Object(
  { id: Type.String({ pattern: '^[A-Z][0-9]{1,2}$' }), for: oneOf(['day', 'week', 'month', 'none']) },
  { additionalProperties: false },
)
export type DismissBody = Static<typeof DismissBody>

export const CollectBody = Type.Object({ dryRun: Type.Boolean() }, { additionalProperties: false })
export type CollectBody = Static<typeof CollectBody>

/** Operators only: 403 for developers. Never refused because a team is blocked. Nodes and drain: `wire` (`/nodes`). */
export interface HostApi {
  'GET /host': { answer: HostView }
  'GET /health': { answer: HealthReport }
  /** 202: the run goes on; read `GET /health` or the topic `host`. One at a time: 409. */
  'POST /health/run': { body: RunHealthBody; answer: HealthReport }
  'POST /health/dismiss': { body: DismissBody; answer: HealthReport }
  'GET /orphans': { answer: { data: readonly Orphan[]; isCut: boolean } }
  'POST /orphans/collect': { body: CollectBody; answer: { removed: readonly Orphan[]; failed: readonly { id: string; message: string }[] } }
}
