import { Type } from 'typebox'

/** Checked by the use cases, whose texts differ from the validation errors'. */
export const BuildParams = Type.Object({ templateID: Type.String(), buildID: Type.String() })
