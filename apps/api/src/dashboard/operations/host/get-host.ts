import { freemem, totalmem } from 'node:os'
import { RELEASE } from '@sandyard/kit/config/release'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerOperatorRoute } from '../../dashboard-route.ts'
import { readCreates, readHostCounts, readHostTeams } from './read-host.ts'

/** `GET /host`: the figures of this server's host, and of the installation. */
export const getHostRoute: ApiRoute = (app, ctx) =>
  registerOperatorRoute(app, {
    operation: 'GET /host',
    schema: {},
    handle: async () => {
      const { db } = ctx.database
      const server = await db
        .selectFrom('server')
        .select(['vitals', 'started_at'])
        .where('server_id', '=', ctx.sandboxes.serverId)
        .executeTakeFirst()
      const { cpuPercent, memory, disk, commit } = server?.vitals ?? {}
      const { running, paused, parked, parking } = await readHostCounts(db)
      return {
        cpuPct: cpuPercent ?? null,
        memoryUsedBytes: memory?.usedBytes ?? totalmem() - freemem(),
        memoryTotalBytes: memory?.totalBytes ?? totalmem(),
        diskUsedBytes: disk?.usedBytes ?? null,
        diskTotalBytes: disk?.totalBytes ?? null,
        // Those that wait, and with them those that are being started.
        pool: { waiting: parked, wanted: parked + parking },
        running,
        paused,
        teams: await readHostTeams(db, ctx.config.limits.concurrentSandboxes),
        ...(await readCreates(db)),
        versions: { sandyard: RELEASE, node: process.versions.node, ...(commit !== undefined && { commit }) },
        startedAt: (server?.started_at ?? new Date(Date.now() - process.uptime() * 1000)).toISOString(),
      }
    },
  })
