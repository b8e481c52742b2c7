import { SandboxParams } from '@sandyard/dashboard-contract/request-fields'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { isSandboxOfTeam } from '../../../sandboxes/events/describe-events.ts'
import { sandboxNotFound } from '../../../sandboxes/sandbox-errors.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { readLineage } from './read-lineage.ts'

/** `GET /sandboxes/{sandboxId}/lineage` */
export const getLineageRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/lineage',
    schema: { params: SandboxParams },
    whileBlocked: true,
    handle: async ({ team, params: { sandboxId } }) => {
      const { db } = ctx.database
      if (!(await isSandboxOfTeam(db, team.id, sandboxId))) throw sandboxNotFound(sandboxId)
      return readLineage(db, team.id, sandboxId)
    },
  })
