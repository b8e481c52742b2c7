import type { ApiRoute } from '../../http/api-instance.ts'
import { createJobRoute, getJobRoute } from '../jobs/routes.ts'
import { buildRoutes } from './builds/build-routes.ts'
import { hostRoutes } from './host/host-routes.ts'
import { listKeysRoute } from './keys/list-keys.ts'
import { getOverviewRoute } from './overview/get-overview.ts'
import { listAuditRoute } from './audit/list-audit.ts'
import { getLineageRoute } from './sandboxes/get-lineage.ts'
import { getTimelineRoute } from './sandboxes/get-timeline.ts'
import { recordingRoutes } from '../recordings/recording-routes.ts'
import { getUsageRoute } from './usage/get-usage.ts'
import { getSandboxRoute } from './sandboxes/get-sandbox.ts'
import { listSandboxesRoute } from './sandboxes/list-sandboxes.ts'
import { teamRoutes } from './teams/team-routes.ts'
import { templateRoutes } from './templates/template-routes.ts'

/** The operations by screen, but for those of a sandbox's inside. One file for each in `operations/<screen>/`. */
export const operationRoutes: readonly ApiRoute[] = [
  listSandboxesRoute,
  getSandboxRoute,
  createJobRoute,
  getJobRoute,
  ...buildRoutes,
  ...templateRoutes,
  listKeysRoute,
  ...teamRoutes,
  ...hostRoutes,
  getOverviewRoute,
  getTimelineRoute,
  getUsageRoute,
  listAuditRoute,
  getLineageRoute,
  recordingRoutes,
]
