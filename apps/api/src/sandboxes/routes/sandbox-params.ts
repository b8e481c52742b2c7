import { Type } from 'typebox'

/** Checked by the use cases, whose text differs from the validation errors'. */
export const SandboxParams = Type.Object({ sandboxID: Type.String() })
