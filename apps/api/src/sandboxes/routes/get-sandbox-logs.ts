import { MAX_SANDBOX_LOGS, SandboxLogs, SandboxLogsQuery } from '@sandyard/api-contract/sandboxes/sandbox-logs'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { SandboxParams } from './sandbox-params.ts'
import { parseSandboxId } from '../sandbox-id.ts'
import { listSandboxLogs } from '../logs/list-logs.ts'
import { toSandboxLog, toSandboxLogEntry } from '../logs/log-view.ts'

/** `GET /sandboxes/{sandboxID}/logs` (control-plane.md 8.1): oldest first. */
export const getSandboxLogsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getSandboxLogs'),
    schema: {
      params: SandboxParams,
      querystring: SandboxLogsQuery,
      response: { 200: SandboxLogs, ...errors(400, 401, 403, 404, 429, 500) },
    },
    handler: async ({ principal, params, query }) => {
      const rows = await listSandboxLogs(ctx.database.db, {
        teamId: getTeam(principal).id,
        sandboxId: parseSandboxId(params.sandboxID),
        cursor: query.start,
        direction: 'forward',
        limit: Math.min(query.limit ?? MAX_SANDBOX_LOGS, MAX_SANDBOX_LOGS),
        windowMs: ctx.config.retention.sandboxLogMs,
      })
      return { logs: rows.map(toSandboxLog), logEntries: rows.map(toSandboxLogEntry) }
    },
  })
