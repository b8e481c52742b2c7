import { Type, type Static } from 'typebox'
import { isPublic, names, templateID } from './template-fields.ts'

/** Body of `PATCH /templates/{templateID}` and of its second version. */
export const TemplateUpdateRequest = Type.Object({ public: Type.Optional(isPublic) }, { title: 'TemplateUpdateRequest' })
export type TemplateUpdateRequest = Static<typeof TemplateUpdateRequest>

/** The answer of both versions (control-plane.md 22.2 D4). */
export const TemplateUpdateResponse = Type.Object({ names }, { title: 'TemplateUpdateResponse' })
export type TemplateUpdateResponse = Static<typeof TemplateUpdateResponse>

/** The answer of `GET /templates/aliases/{alias}`. */
export const TemplateAliasResponse = Type.Object({ templateID, public: isPublic }, { title: 'TemplateAliasResponse' })
export type TemplateAliasResponse = Static<typeof TemplateAliasResponse>
