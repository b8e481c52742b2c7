import { Type, type Static } from 'typebox'
import { Nullable } from '../nullable.ts'
import { DateTime } from '../times.ts'
import { cursor, limit, nextCursor } from './paging.ts'

export const DASHBOARD_BUILD_STATUSES = ['building', 'failed', 'success'] as const
export type DashboardBuildStatus = (typeof DASHBOARD_BUILD_STATUSES)[number]

/** Ids of one request. */
export const MAX_DASHBOARD_BUILDS = 100
const UUID_LENGTH = 36

const state = {
  status: Type.Unsafe<DashboardBuildStatus>({ type: 'string', enum: [...DASHBOARD_BUILD_STATUSES] }),
  statusMessage: Nullable(Type.String({ description: 'Why it failed; null for other states' })),
  finishedAt: Nullable(Type.String({ format: 'date-time', description: 'When it ended' })),
}
const id = Type.String({ format: 'uuid' })

/** Query of `GET /dashboard-api/builds`. */
export const DashboardBuildsQuery = Type.Object({
  build_id_or_template: Type.Optional(
    Type.String({ maxLength: 1024, description: 'Id of a build or a template, or a name of a template' }),
  ),
  statuses: Type.Optional(Type.String({ maxLength: 256, description: `With commas: ${DASHBOARD_BUILD_STATUSES.join(', ')}` })),
  limit,
  cursor,
})
export type DashboardBuildsQuery = Static<typeof DashboardBuildsQuery>

export const DashboardListedBuild = Type.Object(
  {
    id,
    template: Type.String({ description: 'A name of the template, or its id' }),
    templateId: Type.String(),
    ...state,
    createdAt: DateTime('When the build was registered'),
  },
  { title: 'ListedBuild' },
)
export type DashboardListedBuild = Static<typeof DashboardListedBuild>

export const DashboardBuilds = Type.Object({ data: Type.Array(DashboardListedBuild), nextCursor }, { title: 'BuildsListResponse' })

/** Query of `GET /dashboard-api/builds/statuses`. */
export const DashboardBuildStatusesQuery = Type.Object({
  build_ids: Type.String({ maxLength: MAX_DASHBOARD_BUILDS * (UUID_LENGTH + 1), description: 'Up to 100 ids, with commas' }),
})

export const DashboardBuildStatuses = Type.Object(
  {
    buildStatuses: Type.Array(Type.Object({ id, ...state }, { title: 'BuildStatusItem' }), { description: 'Unknown builds are left out' }),
  },
  { title: 'BuildsStatusesResponse' },
)

export const DashboardBuild = Type.Object(
  {
    names: Type.Array(Type.String(), { description: 'Names of the template' }),
    createdAt: DateTime('When the build was registered'),
    ...state,
  },
  { title: 'DashboardBuildInfo' },
)
