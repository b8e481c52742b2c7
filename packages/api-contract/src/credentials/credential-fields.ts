import { Type } from 'typebox'
import { DateTime } from '../times.ts'

/** What lists show of a credential (control-plane.md 1.7). */
export const Mask = Type.Object(
  {
    prefix: Type.String({ description: 'The kind of the credential: `e2b_`, `sk_e2b_`' }),
    valueLength: Type.Integer({ description: 'Characters of the value after the prefix' }),
    maskedValuePrefix: Type.String({ description: 'The first characters of the value' }),
    maskedValueSuffix: Type.String({ description: 'The last characters of the value' }),
  },
  { title: 'IdentifierMaskingDetails' },
)

/** A name as lists can show it; the command line has the same bounds. */
export const CredentialName = Type.String({ minLength: 1, maxLength: 128, description: 'What it is for' })

/** An addition of this server. */
export const expiresAt = Type.Optional(DateTime('From then on it is refused; never when absent'))
