import { Type, type Static } from 'typebox'
import type { Instant, Page } from './api-shape.ts'
import { pageQuery, search } from './request-fields.ts'

export const ListKeysQuery = Type.Object({ ...pageQuery, search }, { additionalProperties: false })
export type ListKeysQuery = Static<typeof ListKeysQuery>

export interface KeyRow {
  readonly keyId: string
  readonly name: string
  /** `e2b_1234...abcd`. */
  readonly mask: string
  readonly createdAt: Instant
  readonly createdBy: string | null
  readonly lastUsedAt: Instant | null
  readonly expiresAt: Instant | null
  readonly scope: string | null
  readonly liveSandboxes: number
  /** The key of this session. */
  readonly isOwn: boolean
}

/** Create (shown once), rename, delete: `wire` (`/api-keys`, by the session, which a key alone may not). */
export interface CredentialsApi {
  'GET /keys': { query: ListKeysQuery; answer: Page<KeyRow> }
}
