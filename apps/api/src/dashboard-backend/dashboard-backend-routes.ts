import type { ApiRoute } from '../http/api-instance.ts'
import { getDashboardBuildRoute } from './routes/get-build.ts'
import { getDashboardSandboxRecordRoute } from './routes/get-sandbox-record.ts'
import { getDashboardTemplateRoute } from './routes/get-template.ts'
import { listDashboardBuildStatusesRoute } from './routes/list-build-statuses.ts'
import { listDashboardBuildsRoute } from './routes/list-builds.ts'
import { listDashboardDefaultTemplatesRoute } from './routes/list-default-templates.ts'
import { listDashboardTemplatesRoute } from './routes/list-templates.ts'

/** The backend of upstream's dashboard (dashboard-and-cli.md 2.1). Its operations of tags are registered with those of the control plane. */
export const dashboardBackendRoutes: readonly ApiRoute[] = [
  listDashboardBuildsRoute,
  listDashboardBuildStatusesRoute,
  getDashboardBuildRoute,
  getDashboardSandboxRecordRoute,
  listDashboardTemplatesRoute,
  listDashboardDefaultTemplatesRoute,
  getDashboardTemplateRoute,
]
