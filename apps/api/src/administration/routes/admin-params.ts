import { Type } from 'typebox'

/** Any texts: one that is no UUID is refused with a text of its own (control-plane.md 13.2). */
export const AdminTeamParams = Type.Object({ teamID: Type.String() })
export const AdminUserParams = Type.Object({ userID: Type.String() })
export const AdminMemberParams = Type.Object({ teamID: Type.String(), userID: Type.String() })
