import type { ApiRoute } from '../http/api-instance.ts'
import { getTeamMetricsMaxRoute } from '../team-metrics/routes/get-team-metrics-max.ts'
import { getTeamMetricsRoute } from '../team-metrics/routes/get-team-metrics.ts'
import { getTeamLimitsRoute } from './routes/get-team-limits.ts'
import { listTeamsRoute } from './routes/list-teams.ts'

/** What a team sees of itself (control-plane.md 5), and its limits, which are ours. */
export const teamRoutes: readonly ApiRoute[] = [listTeamsRoute, getTeamMetricsRoute, getTeamMetricsMaxRoute, getTeamLimitsRoute]
