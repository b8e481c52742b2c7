import { Type, type Static } from 'typebox'

/** Answer of `GET /templates/{templateID}/files/{hash}` (control-plane.md 10.4). */
export const TemplateFiles = Type.Object(
  {
    present: Type.Boolean({ description: 'Whether the archive is stored already' }),
    /** Also sent when the archive is present, because clients may force another upload. */
    url: Type.String({ description: 'URL to PUT the archive to, without credentials' }),
  },
  { title: 'TemplateBuildFileUpload' },
)
export type TemplateFiles = Static<typeof TemplateFiles>
