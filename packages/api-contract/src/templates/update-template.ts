import { Type, type Static } from 'typebox'
import { isPublic, names, templateID } from './template-fields.ts'

/** Body of `PATCH /templates/{templateID}` and of its second version. */
export const TemplateUpdateRequest = Type.Object({ public: Type.Optional(isPublic) }, { title: 'TemplateUpdateRequest' })
export type TemplateUpdateRequest = Static<typeof TemplateUpdateRequest>

/** What both answer (control-plane.md 22.2 D4). */
export const TemplateUpdateResponse = Type.Object({ names }, { title: 'TemplateUpdateResponse' })
export type TemplateUpdateResponse = Static<typeof TemplateUpdateResponse>

/** What `GET /templates/aliases/{alias}` answers. */
export const TemplateAliasResponse = Type.Object({ templateID, public: isPublic }, { title: 'TemplateAliasResponse' })
export type TemplateAliasResponse = Static<typeof TemplateAliasResponse>
