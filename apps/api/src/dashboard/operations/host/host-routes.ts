import type { ApiRoute } from '../../../http/api-instance.ts'
import { collectOrphansRoute } from './collect-orphans.ts'
import { dismissCheckRoute } from './dismiss-check.ts'
import { getHealthRoute } from './get-health.ts'
import { getHostRoute } from './get-host.ts'
import { listOrphansRoute } from './list-orphans.ts'
import { runHealthRoute } from './run-health.ts'

/** The host, its checks and its orphans: for operators. */
export const hostRoutes: readonly ApiRoute[] = [
  getHostRoute,
  getHealthRoute,
  runHealthRoute,
  dismissCheckRoute,
  listOrphansRoute,
  collectOrphansRoute,
]
