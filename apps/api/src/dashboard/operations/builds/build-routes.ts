import { BuildLinesQuery, BuildParams, ListBuildsQuery, type BuildDetail } from '@sandyard/dashboard-contract/templates'
import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { FAILURES } from '../../../builds/build-failure.ts'
import { buildPartsOf } from '../../../builds/routes/route-parts.ts'
import { buildAgain } from '../../../builds/start/build-again.ts'
import { cancelBuild } from '../../../builds/queue/cancel-build.ts'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { readBuildLines } from './read-build-lines.ts'
import { isUnfinished } from './is-unfinished.ts'
import { readBuildDetail, readBuildRows } from './read-builds.ts'

/** @throws AppError `not_found` */
async function getBuild(db: Db, teamId: string, buildId: string): Promise<BuildDetail> {
  const build = await readBuildDetail(db, teamId, buildId)
  if (build === undefined) throw new AppError('not_found', `Build '${buildId}' not found`)
  return build
}

/** `GET /builds` */
const listBuildsRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /builds',
    schema: { querystring: ListBuildsQuery },
    whileBlocked: true,
    handle: async ({ team, query }) => {
      const { rows, nextCursor } = await readBuildRows(ctx.database.db, team.id, query)
      return { data: rows, nextCursor }
    },
  })

/** `GET /builds/{buildId}` */
const getBuildRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /builds/{buildId}',
    schema: { params: BuildParams },
    whileBlocked: true,
    handle: ({ team, params }) => getBuild(ctx.database.db, team.id, params.buildId),
  })

/** `GET /builds/{buildId}/lines` */
const getBuildLinesRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /builds/{buildId}/lines',
    schema: { params: BuildParams, querystring: BuildLinesQuery },
    whileBlocked: true,
    handle: async ({ team, params, query }) => {
      await getBuild(ctx.database.db, team.id, params.buildId)
      return readBuildLines(ctx.database.db, params.buildId, query)
    },
  })

/** `POST /builds/{buildId}/cancel` */
const cancelBuildRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'POST /builds/{buildId}/cancel',
    schema: { params: BuildParams },
    whileBlocked: true,
    handle: async ({ team, params }) => {
      await getBuild(ctx.database.db, team.id, params.buildId)
      await ctx.database.transaction(async (tx) => {
        const { status } = await tx.selectFrom('build').select('status').where('build_id', '=', params.buildId).executeTakeFirstOrThrow()
        if (!isUnfinished(status)) throw new AppError('conflict', 'The build has ended')
        await cancelBuild(tx, params.buildId, FAILURES.cancelled)
      })
      return getBuild(ctx.database.db, team.id, params.buildId)
    },
  })

/** `POST /builds/{buildId}/rebuild`: a new build of the same instructions. */
const rebuildRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'POST /builds/{buildId}/rebuild',
    schema: { params: BuildParams },
    whileBlocked: false,
    handle: ({ team, params }) => buildAgain(buildPartsOf(ctx), team, params.buildId),
  })

export const buildRoutes: readonly ApiRoute[] = [listBuildsRoute, getBuildRoute, getBuildLinesRoute, cancelBuildRoute, rebuildRoute]
