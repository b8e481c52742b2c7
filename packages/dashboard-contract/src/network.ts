import { Type, type Static } from 'typebox'
import type { Instant, Page } from './api-shape.ts'
import { oneOf, pageQuery } from './request-fields.ts'

export const EgressQuery = Type.Object({ ...pageQuery, verdict: Type.Optional(oneOf(['allow', 'deny'])) }, { additionalProperties: false })
export type EgressQuery = Static<typeof EgressQuery>

/** Equal decisions that followed each other, as `sandbox_egress` counts them. */
export interface EgressDecision {
  readonly id: string
  /** Of the last one. */
  readonly at: Instant
  readonly verdict: 'allow' | 'deny'
  readonly rule: string
  readonly host: string | null
  readonly address: string
  readonly protocol: string
  readonly port: number
  readonly connections: number
  /** What to add to `allowOut` so that it passes; null for what no rule may allow. */
  readonly toAllow: string | null
}

export interface NetworkApi {
  'GET /sandboxes/{sandboxId}/egress': { params: { sandboxId: string }; query: EgressQuery; answer: Page<EgressDecision> }
}
