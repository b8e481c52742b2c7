import { OverviewQuery, type Overview } from '@sandyard/dashboard-contract/overview'
import type { ApiRoute } from '../../../http/api-instance.ts'
import type { ApiMetrics } from '../../../metrics/api-metrics.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { readBuildRows } from '../builds/read-builds.ts'
import { countStates } from '../sandboxes/read-rows.ts'
import { readCreateTimes, readLastEvents, readSeries } from './read-overview.ts'

const FAILED_BUILDS = 5
const EVENTS = 20
const MAX_UNSERVED = 20

/** `GET /overview`: requests that are answered with 501 are counted for the whole server, so only operators see them. */
export const getOverviewRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /overview',
    schema: { querystring: OverviewQuery },
    whileBlocked: true,
    handle: async ({ team, session, query: { range = '24h' } }) => {
      const { db } = ctx.database
      const [counts, series, createMs, builds, events, unserved] = await Promise.all([
        countStates(db, team, ctx.config.limits),
        readSeries(db, team.id, range),
        readCreateTimes(db, team.id, range),
        readBuildRows(db, team.id, { status: 'failed', limit: FAILED_BUILDS }),
        readLastEvents(db, team.id, EVENTS),
        session.role === 'operator' ? readUnserved(ctx.metrics) : [],
      ])
      const startsInRange = series.reduce((sum, { starts }) => sum + starts, 0)
      return { counts, series, startsInRange, createMs, failedBuilds: builds.rows, events, unserved }
    },
  })

/** Since this server started, the most frequent operations first. */
async function readUnserved({ unimplemented }: ApiMetrics): Promise<Overview['unserved']> {
  const { values } = await unimplemented.get()
  const counts = new Map<string, number>()
  for (const { labels, value } of values) {
    const operation = String(labels.operation ?? 'unknown')
    counts.set(operation, (counts.get(operation) ?? 0) + value)
  }
  return [...counts]
    .map(([operation, count]) => ({ operation, count }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count)
    .slice(0, MAX_UNSERVED)
}
