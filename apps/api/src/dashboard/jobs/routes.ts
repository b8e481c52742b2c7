import { JobParams, NewJobBody } from '@sandyard/dashboard-contract/sandboxes'
import { AppError } from '@sandyard/kit/errors/app-error'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { registerTeamRoute } from '../dashboard-route.ts'
import { makeJob } from './make-job.ts'
import { readJob } from './read-job.ts'

const notFound = (): AppError => new AppError('not_found', 'There is no such action')

/** `POST /jobs` */
export const createJobRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'POST /jobs',
    schema: { body: NewJobBody },
    // It may kill; `makeJob` refuses the rest.
    whileBlocked: true,
    handle: async ({ team, body, session }) => {
      await makeJob(ctx.database, team, { body, actor: actorOf(session.principal) })
      ctx.jobs.wake()
      const job = await readJob(ctx.database.db, team.id, body.requestId)
      if (job === undefined) throw notFound()
      return job
    },
  })

/** `GET /jobs/{jobId}` */
export const getJobRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /jobs/{jobId}',
    schema: { params: JobParams },
    whileBlocked: true,
    handle: async ({ team, params }) => {
      const job = await readJob(ctx.database.db, team.id, params.jobId)
      if (job === undefined) throw notFound()
      return job
    },
  })
