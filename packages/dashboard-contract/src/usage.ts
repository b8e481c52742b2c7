import { Type, type Static } from 'typebox'
import type { Instant, Page } from './api-shape.ts'
import { instant, oneOf, pageQuery, search, uuid } from './request-fields.ts'
import type { ActorView } from './sandboxes.ts'

export const UsageQuery = Type.Object(
  {
    from: instant,
    to: instant,
    by: oneOf(['team', 'template', 'key', 'metadata']),
    /** With `by=metadata`. */
    metadataKey: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    bucket: Type.Optional(oneOf(['hour', 'day'])),
  },
  { additionalProperties: false },
)
export type UsageQuery = Static<typeof UsageQuery>

export interface UsageRow {
  readonly id: string
  readonly name: string
  readonly sandboxes: number
  readonly sandboxHours: number
  readonly vcpuHours: number
  readonly memoryGibHours: number
}

export interface Usage {
  readonly from: Instant
  readonly to: Instant
  readonly rows: readonly UsageRow[]
  readonly total: Omit<UsageRow, 'id' | 'name'>
  readonly series: readonly { readonly at: Instant; readonly sandboxHours: number; readonly vcpuHours: number }[]
  /** There are more than 500 rows. */
  readonly isCut: boolean
}

export const AuditQuery = Type.Object(
  {
    ...pageQuery,
    /** In targets: an id or a name. */
    search,
    operation: Type.Optional(Type.String({ maxLength: 64 })),
    actor: Type.Optional(oneOf(['key', 'user', 'admin', 'link'])),
    credentialId: Type.Optional(uuid),
    from: Type.Optional(instant),
    to: Type.Optional(instant),
    /** Operators: of every team. */
    allTeams: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
export type AuditQuery = Static<typeof AuditQuery>

export interface AuditRow {
  readonly id: string
  readonly at: Instant
  readonly operation: string
  readonly actor: ActorView
  readonly teamId: string | null
  readonly teamName: string | null
  readonly clientAddress: string
  readonly requestId: string
  readonly targets: Readonly<Record<string, string | number | readonly string[]>>
  readonly status: number
}

/** The page makes CSV of what it has, so there is no second form of the answer. */
export interface UsageApi {
  'GET /usage': { query: UsageQuery; answer: Usage }
  'GET /audit': { query: AuditQuery; answer: Page<AuditRow> }
}
