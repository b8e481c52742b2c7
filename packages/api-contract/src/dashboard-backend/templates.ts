import { Type, type Static } from 'typebox'
import { Nullable } from '../nullable.ts'
import { Template } from '../templates/template.ts'
import { DateTime } from '../times.ts'
import { cursor, limit, nextCursor } from './paging.ts'

export const DASHBOARD_TEMPLATE_SORTS = [
  'name_asc',
  'name_desc',
  'cpu_count_asc',
  'cpu_count_desc',
  'memory_mb_asc',
  'memory_mb_desc',
  'created_at_asc',
  'created_at_desc',
  'updated_at_asc',
  'updated_at_desc',
] as const
export type DashboardTemplateSort = (typeof DASHBOARD_TEMPLATE_SORTS)[number]

/** Query of `GET /dashboard-api/templates`. */
export const DashboardTemplatesQuery = Type.Object({
  public: Type.Optional(Type.Boolean({ description: 'Only those that everybody may use, or only the others' })),
  search: Type.Optional(Type.String({ maxLength: 256, description: 'Part of a name or an id' })),
  sort: Type.Optional(
    Type.Unsafe<DashboardTemplateSort>({ type: 'string', enum: [...DASHBOARD_TEMPLATE_SORTS], default: 'updated_at_desc' }),
  ),
  limit,
  cursor,
})
export type DashboardTemplatesQuery = Static<typeof DashboardTemplatesQuery>

/** That of the lists of the control plane, with the purpose of a default template, which none has here. */
export const DashboardTemplate = Type.Object(
  {
    ...Type.Omit(Template, ['buildStatus']).properties,
    defaultDescription: Nullable(Type.String()),
  },
  { title: 'TeamTemplate' },
)
export type DashboardTemplate = Static<typeof DashboardTemplate>

export const DashboardTemplates = Type.Object({ data: Type.Array(DashboardTemplate), nextCursor }, { title: 'TeamTemplatesResponse' })

export const DashboardDefaultTemplate = Type.Object(
  {
    id: Type.String(),
    aliases: Type.Array(Type.Object({ alias: Type.String(), namespace: Nullable(Type.String()) })),
    buildId: Type.String({ format: 'uuid' }),
    ramMb: Type.Integer({ format: 'int64' }),
    vcpu: Type.Integer({ format: 'int64' }),
    totalDiskSizeMb: Nullable(Type.Integer({ format: 'int64' })),
    envdVersion: Nullable(Type.String()),
    createdAt: DateTime('When the template was made'),
    public: Type.Boolean(),
    buildCount: Type.Integer({ format: 'int32' }),
    spawnCount: Type.Integer({ format: 'int64' }),
  },
  { title: 'DefaultTemplate' },
)
export type DashboardDefaultTemplate = Static<typeof DashboardDefaultTemplate>

export const DashboardDefaultTemplates = Type.Object(
  { templates: Type.Array(DashboardDefaultTemplate) },
  { title: 'DefaultTemplatesResponse' },
)
