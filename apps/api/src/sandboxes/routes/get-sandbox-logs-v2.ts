import { MAX_SANDBOX_LOGS, SandboxLogsV2, SandboxLogsV2Query } from '@sandyard/api-contract/sandboxes/sandbox-logs'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { SandboxParams } from './sandbox-params.ts'
import { parseSandboxId } from '../sandbox-id.ts'
import { listSandboxLogs } from '../logs/list-logs.ts'
import { toSandboxLogEntry } from '../logs/log-view.ts'

/** `GET /v2/sandboxes/{sandboxID}/logs` (control-plane.md 8.2). */
export const getSandboxLogsV2Route: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getSandboxLogsV2'),
    schema: {
      params: SandboxParams,
      querystring: SandboxLogsV2Query,
      response: { 200: SandboxLogsV2, ...errors(400, 401, 403, 404, 429, 500) },
    },
    handler: async ({ principal, params, query }) => {
      const { cursor, direction = 'backward', limit = MAX_SANDBOX_LOGS, level, search } = query
      const rows = await listSandboxLogs(ctx.database.db, {
        teamId: getTeam(principal).id,
        sandboxId: parseSandboxId(params.sandboxID),
        cursor,
        direction,
        limit,
        level,
        search,
        windowMs: ctx.config.retention.sandboxLogMs,
      })
      return { logs: rows.map(toSandboxLogEntry) }
    },
  })
