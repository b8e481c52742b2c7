import { Type, type Static } from 'typebox'
import { DateTime } from '../times.ts'
import { CredentialName, expiresAt, Mask } from './credential-fields.ts'

export const NewAccessToken = Type.Object({ name: CredentialName, expiresAt }, { title: 'NewAccessToken' })
export type NewAccessToken = Static<typeof NewAccessToken>

/** The only answer with the raw token (control-plane.md 14.1). */
export const CreatedAccessToken = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Identifier of the access token' }),
    name: Type.String(),
    token: Type.String({ description: 'The raw access token, which is not shown again' }),
    mask: Mask,
    createdAt: DateTime('When it was created'),
    expiresAt,
  },
  { title: 'CreatedAccessToken' },
)
export type CreatedAccessToken = Static<typeof CreatedAccessToken>
