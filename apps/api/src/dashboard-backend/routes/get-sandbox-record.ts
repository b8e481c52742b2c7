import { Type } from 'typebox'
import { SandboxRecord } from '@sandyard/api-contract/dashboard-backend/sandbox-record'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { sandboxNotFound } from '../../sandboxes/sandbox-errors.ts'
import { findSandboxRecord } from '../find-sandbox-record.ts'

/** `GET /dashboard-api/sandboxes/{sandboxID}/record` (dashboard-and-cli.md 2.1): as long as the history keeps it. */
export const getDashboardSandboxRecordRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getDashboardSandboxRecord'),
    schema: { params: Type.Object({ sandboxID: Type.String() }), response: { 200: SandboxRecord, ...errors(401, 403, 404, 429, 500) } },
    handler: async ({ principal, params: { sandboxID } }) => {
      const row = await findSandboxRecord(ctx.database.db, getTeam(principal).id, sandboxID)
      if (row === undefined) throw sandboxNotFound(sandboxID)
      const { sandboxLogMs, sandboxMetricMs } = ctx.config.retention
      const endedMs = row.ended_at === null ? 0 : Date.now() - row.ended_at.getTime()
      return {
        templateID: row.template_id,
        ...(row.alias !== null && { alias: row.alias }),
        sandboxID: row.sandbox_id,
        startedAt: (row.started_at ?? row.created_at).toISOString(),
        stoppedAt: row.ended_at?.toISOString() ?? null,
        domain: ctx.config.domain,
        cpuCount: row.cpu_count,
        memoryMB: row.memory_mib,
        diskSizeMB: row.disk_mib,
        retentionExpired: endedMs > Math.max(sandboxLogMs, sandboxMetricMs),
      }
    },
  })
