import type { Columns, CreatedAt } from '../column.ts'

/** Who a user is at an OpenID provider. */
export interface UserIdentityTable {
  /** The provider's `iss`. */
  issuer: string
  /** The user's `sub` there. */
  subject: string
  user_id: string
  created_at: CreatedAt
}

export const userIdentityColumns: Columns<UserIdentityTable> = {
  issuer: 'text',
  subject: 'text',
  user_id: 'uuid',
  created_at: 'timestamp with time zone',
}
