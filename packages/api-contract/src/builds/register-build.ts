import { Type, type Static } from 'typebox'
import { CpuCount, MemoryMb } from '../numbers.ts'

const INT32_MAX = 2_147_483_647
const MAX_NAME_LENGTH = 128
/** A build with more tags is a mistake: each tag is a row. */
const MAX_TAGS = 100

/** The default sizes of a template (control-plane.md 10.3). */
export const TEMPLATE_DEFAULTS = { cpuCount: 2, memoryMb: 1024 } as const

const teamID = Type.Optional(Type.String({ deprecated: true, description: 'Identifier of the team' }))

const sizes = {
  cpuCount: Type.Optional({ ...CpuCount, default: TEMPLATE_DEFAULTS.cpuCount }),
  memoryMB: Type.Optional({ ...MemoryMb, default: TEMPLATE_DEFAULTS.memoryMb }),
}

/** Body of `POST /v3/templates` (control-plane.md 10.3). */
export const TemplateBuildRequestV3 = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        maxLength: MAX_NAME_LENGTH,
        description: 'Name of the template with an optional namespace and tag: [namespace/]alias[:tag]',
      }),
    ),
    alias: Type.Optional(Type.String({ maxLength: MAX_NAME_LENGTH, deprecated: true, description: 'The same as name' })),
    tags: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_NAME_LENGTH }), {
        maxItems: MAX_TAGS,
        description: 'Tags of the build; `default` if there are none',
      }),
    ),
    teamID,
    ...sizes,
    minFreeDiskMb: Type.Optional(
      Type.Integer({
        format: 'int32',
        minimum: 0,
        maximum: INT32_MAX,
        description: 'Minimum disk size in MiB; the setting of the server applies when it is larger',
      }),
    ),
  },
  { title: 'TemplateBuildRequestV3' },
)
export type TemplateBuildRequestV3 = Static<typeof TemplateBuildRequestV3>

/** Body of `POST /v2/templates`. */
export const TemplateBuildRequestV2 = Type.Object(
  { alias: Type.String({ maxLength: MAX_NAME_LENGTH, description: 'Alias of the template' }), teamID, ...sizes },
  { title: 'TemplateBuildRequestV2' },
)
export type TemplateBuildRequestV2 = Static<typeof TemplateBuildRequestV2>

/** Body of `POST /templates` and `POST /templates/{templateID}` (control-plane.md 10.2). */
export const TemplateBuildRequest = Type.Object(
  {
    dockerfile: Type.String({ description: 'Dockerfile of the template' }),
    alias: Type.Optional(Type.String({ maxLength: MAX_NAME_LENGTH, description: 'Alias of the template' })),
    teamID,
    startCmd: Type.Optional(Type.String({ description: 'Start command to execute in the template after the build' })),
    readyCmd: Type.Optional(Type.String({ description: 'Ready check command to execute in the template after the build' })),
    ...sizes,
  },
  { title: 'TemplateBuildRequest' },
)
export type TemplateBuildRequest = Static<typeof TemplateBuildRequest>
