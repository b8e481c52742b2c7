import { freemem, totalmem } from 'node:os'
import type { HostView } from '@sandyard/dashboard-contract/host'
import { RELEASE } from '@sandyard/kit/config/release'
import type { AppContext } from '../../../context.ts'
import { readCreates, readHostCounts, readHostTeams } from './read-host.ts'

export type HostViewParts = Pick<AppContext, 'config' | 'database' | 'sandboxes' | 'orphans'>

/**
 * The figures of this server's host, and of the installation.
 *
 * @param creates - times of creates that were read before
 */
export async function readHostView(
  { config, database: { db }, sandboxes, orphans }: HostViewParts,
  creates?: Pick<HostView, 'createMs' | 'slowCreates'>,
): Promise<HostView> {
  const server = await db
    .selectFrom('server')
    .select(['vitals', 'started_at'])
    .where('server_id', '=', sandboxes.serverId)
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
    orphans: orphans.known ?? null,
    running,
    paused,
    teams: await readHostTeams(db, config.limits.concurrentSandboxes),
    ...(creates ?? (await readCreates(db))),
    versions: { sandyard: RELEASE, node: process.versions.node, ...(commit !== undefined && { commit }) },
    startedAt: (server?.started_at ?? new Date(Date.now() - process.uptime() * 1000)).toISOString(),
  }
}
