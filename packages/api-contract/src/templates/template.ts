import { Type, type Static } from 'typebox'
import { BuildStatus } from './build-status.ts'
import { aliases, buildFields, defaultFields, deprecatedAliases, isPublic, lifeFields, names, templateID } from './template-fields.ts'

/** An item of the lists of templates (control-plane.md 9.1.1). */
export const Template = Type.Object(
  {
    templateID,
    ...buildFields,
    public: isPublic,
    aliases: deprecatedAliases,
    names,
    ...lifeFields,
    buildStatus: BuildStatus,
    ...defaultFields,
  },
  { title: 'Template' },
)
export type Template = Static<typeof Template>

/** The answer of the older operations that register a build; the last two fields are the seed's (control-plane.md 9.1.2, 22.2 D2). */
export const TemplateLegacy = Type.Object(
  {
    templateID,
    ...buildFields,
    public: isPublic,
    aliases,
    ...lifeFields,
    names: Type.Optional(names),
    buildStatus: Type.Optional(BuildStatus),
  },
  { title: 'TemplateLegacy' },
)
export type TemplateLegacy = Static<typeof TemplateLegacy>

/** The answer of `POST /v3/templates` (control-plane.md 9.1.4). */
export const TemplateRequestResponseV3 = Type.Object(
  {
    templateID,
    buildID: Type.String({ description: 'Identifier of the registered build' }),
    public: isPublic,
    names,
    tags: Type.Array(Type.String(), { description: 'Tags assigned to the build' }),
    aliases: deprecatedAliases,
  },
  { title: 'TemplateRequestResponseV3' },
)
export type TemplateRequestResponseV3 = Static<typeof TemplateRequestResponseV3>
