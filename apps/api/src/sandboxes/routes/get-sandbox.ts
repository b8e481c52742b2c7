import { SandboxDetail } from '@sandyard/api-contract/sandboxes/sandbox'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { getSandbox } from '../read/get-sandbox.ts'
import { toSandboxDetail } from '../read/sandbox-view.ts'
import { SandboxParams } from './sandbox-params.ts'

/** `GET /sandboxes/{sandboxID}` (control-plane.md 6.4). */
export const getSandboxRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getSandbox'),
    schema: { params: SandboxParams, response: { 200: SandboxDetail, ...errors(400, 401, 403, 404, 429, 500) } },
    handler: async ({ principal, params }) => {
      const row = await getSandbox(ctx.database.db, getTeam(principal).id, params.sandboxID)
      return toSandboxDetail(row, ctx.installation.tokenSeed, { mayConnect: principal?.scope !== 'read' })
    },
  })
