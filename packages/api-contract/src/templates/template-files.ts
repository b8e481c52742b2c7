import { Type, type Static } from 'typebox'

/** Answer of `GET /templates/{templateID}/files/{hash}` (control-plane.md 10.4). */
export const TemplateFiles = Type.Object({
  present: Type.Boolean(),
  /** Where the archive is put, without credentials; sent although it is present, because clients may force another upload. */
  url: Type.String(),
})
export type TemplateFiles = Static<typeof TemplateFiles>
