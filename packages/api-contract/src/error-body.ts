import { Type, type Static } from 'typebox'

/** The body of every error. Clients branch on `code`, which equals the HTTP status (control-plane.md 1.4). */
export const ErrorBody = Type.Object(
  {
    code: Type.Integer({ format: 'int32', description: 'Error code' }),
    message: Type.String({ description: 'Error' }),
    error_code: Type.Optional(Type.String({ description: 'Stable name of the cause, where there is one' })),
  },
  { title: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>
