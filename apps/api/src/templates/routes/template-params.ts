import { Type } from 'typebox'

/** The path of operations on one template. */
export const TemplateParams = Type.Object({
  templateID: Type.String({ description: 'Identifier of the template; where the operation resolves names, a name' }),
})
