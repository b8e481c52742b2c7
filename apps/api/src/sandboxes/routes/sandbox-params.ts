import { Type } from 'typebox'

/** The use cases check it: their error text differs from that of schema validation. */
export const SandboxParams = Type.Object({ sandboxID: Type.String() })
