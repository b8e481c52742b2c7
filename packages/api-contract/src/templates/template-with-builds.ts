import { Type, type Static } from 'typebox'
import { CpuCount, DiskSizeMb, MemoryMb } from '../numbers.ts'
import { DateTime } from '../times.ts'
import { BuildStatus } from './build-status.ts'
import { buildFields, defaultFields, deprecatedAliases, envdVersion, isPublic, lifeFields, names, templateID } from './template-fields.ts'

/** A build in the list of its template (control-plane.md 9.1.3). */
export const TemplateBuild = Type.Object(
  {
    buildID: Type.String({ format: 'uuid', description: 'Identifier of the build' }),
    status: BuildStatus,
    createdAt: DateTime('When it was registered'),
    updatedAt: DateTime('When its status last changed'),
    finishedAt: Type.Optional(DateTime('When it succeeded or failed; absent before')),
    cpuCount: CpuCount,
    memoryMB: MemoryMb,
    diskSizeMB: Type.Optional(DiskSizeMb),
    envdVersion: Type.Optional(envdVersion),
  },
  { title: 'TemplateBuild' },
)
export type TemplateBuild = Static<typeof TemplateBuild>

/** One template and a page of its builds (control-plane.md 9.1.3; for newer clients: clients-python-2.63.md 7). */
export const TemplateWithBuilds = Type.Object(
  {
    templateID,
    public: isPublic,
    aliases: deprecatedAliases,
    names,
    ...lifeFields,
    ...buildFields,
    buildStatus: BuildStatus,
    ...defaultFields,
    builds: Type.Array(TemplateBuild, { description: 'Builds of the template, newest first' }),
  },
  { title: 'TemplateWithBuilds' },
)
export type TemplateWithBuilds = Static<typeof TemplateWithBuilds>
