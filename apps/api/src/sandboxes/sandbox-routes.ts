import type { ApiRoute } from '../http/api-instance.ts'
import { getSandboxMetricsRoute } from '../sandbox-metrics/routes/get-sandbox-metrics.ts'
import { listSandboxMetricsRoute } from '../sandbox-metrics/routes/list-sandbox-metrics.ts'
import { connectSandboxV2Route } from './routes/connect-sandbox-v2.ts'
import { connectSandboxRoute } from './routes/connect-sandbox.ts'
import { createSandboxV2Route } from './routes/create-sandbox-v2.ts'
import { createSandboxRoute } from './routes/create-sandbox.ts'
import { getSandboxLogsV2Route } from './routes/get-sandbox-logs-v2.ts'
import { getSandboxLogsRoute } from './routes/get-sandbox-logs.ts'
import { getSandboxRoute } from './routes/get-sandbox.ts'
import { killSandboxRoute } from './routes/kill-sandbox.ts'
import { listLifecycleEventsRoute } from './routes/list-lifecycle-events.ts'
import { listSandboxEventsRoute } from './routes/list-sandbox-events.ts'
import { listSandboxesV2Route } from './routes/list-sandboxes-v2.ts'
import { listSandboxesRoute } from './routes/list-sandboxes.ts'
import { listTeamLifecycleEventsRoute } from './routes/list-team-lifecycle-events.ts'
import { pauseSandboxRoute } from './routes/pause-sandbox.ts'
import { refreshSandboxRoute } from './routes/refresh-sandbox.ts'
import { resumeSandboxRoute } from './routes/resume-sandbox.ts'
import { setSandboxTimeoutRoute } from './routes/set-sandbox-timeout.ts'
import { updateSandboxNetworkRoute } from './routes/update-sandbox-network.ts'
import { wakeSandboxRoute } from './routes/wake-sandbox.ts'

/** Sandboxes, their events, logs and metrics (control-plane.md 6 and 8). */
export const sandboxRoutes: readonly ApiRoute[] = [
  createSandboxRoute,
  createSandboxV2Route,
  listSandboxesRoute,
  listSandboxesV2Route,
  getSandboxRoute,
  killSandboxRoute,
  pauseSandboxRoute,
  resumeSandboxRoute,
  wakeSandboxRoute,
  connectSandboxRoute,
  connectSandboxV2Route,
  setSandboxTimeoutRoute,
  refreshSandboxRoute,
  updateSandboxNetworkRoute,
  listSandboxEventsRoute,
  listTeamLifecycleEventsRoute,
  listLifecycleEventsRoute,
  getSandboxLogsRoute,
  getSandboxLogsV2Route,
  getSandboxMetricsRoute,
  listSandboxMetricsRoute,
]
