import { Type, type Static } from 'typebox'
import { DateTime } from '../times.ts'
import { EMAIL_PATTERN, MAX_EMAIL_LENGTH } from './email-bounds.ts'

export const Email = Type.String({ maxLength: MAX_EMAIL_LENGTH, pattern: EMAIL_PATTERN })

const userID = Type.String({ format: 'uuid', description: 'Identifier of the user' })

export const AdminUser = Type.Object({ userID, email: Type.String(), createdAt: DateTime('When it was created') }, { title: 'AdminUser' })
export type AdminUser = Static<typeof AdminUser>

/** Body of `POST /admin/users`. */
export const NewUser = Type.Object({ email: Email }, { title: 'NewUser' })

/** A user who is a member of a team. */
export const TeamMember = Type.Object(
  {
    userID,
    email: Type.String(),
    isDefault: Type.Boolean({ description: 'Whether requests of the user that name no team are for this one' }),
    createdAt: DateTime('Since when'),
  },
  { title: 'TeamMember' },
)
export type TeamMember = Static<typeof TeamMember>

/** Body of `PUT /admin/teams/{teamID}/members/{userID}`. */
export const TeamMemberUpdate = Type.Object(
  { isDefault: Type.Optional(Type.Boolean({ description: 'Absent: as it is; the first team of a user is the default' })) },
  { title: 'TeamMemberUpdate' },
)
