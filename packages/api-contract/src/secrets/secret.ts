import { Type, type Static } from 'typebox'
import { DateTime } from '../times.ts'

const Metadata = Type.Record(Type.String(), Type.String(), { description: 'Texts of the owner. They are not secret' })
const Value = Type.String({ minLength: 1, description: 'The value, at most 64 KiB. No operation returns it' })

/** A secret without its value (control-plane.md 16). */
export const SecretInfo = Type.Object(
  {
    secretID: Type.String(),
    name: Type.String({ description: 'In lower case' }),
    currentVersion: Type.Integer({ format: 'int64', description: 'The version that network rules use' }),
    metadata: Metadata,
    createdAt: DateTime('When it was created'),
    updatedAt: DateTime('When it got its newest version'),
  },
  { title: 'Secret' },
)
export type SecretInfo = Static<typeof SecretInfo>

/** Body of `POST /secrets`. */
export const NewSecret = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-zA-Z0-9_-]{1,128}$',
      description: 'Stored in lower case, unique in the team; must not begin with sec_',
    }),
    value: Value,
    metadata: Type.Optional(Metadata),
  },
  { title: 'NewSecret' },
)
export type NewSecret = Static<typeof NewSecret>

/** Body of `POST /secrets/{secretID}`. */
export const SecretUpdate = Type.Object(
  { value: Value, metadata: Type.Optional(Type.Unsafe<Static<typeof Metadata>>({ ...Metadata, description: 'Absent: as before' })) },
  { title: 'SecretUpdate' },
)
export type SecretUpdate = Static<typeof SecretUpdate>

/** The path of operations on one secret. */
export const SecretPath = Type.Object({ secretID: Type.String({ description: 'Id or name of the secret' }) })
