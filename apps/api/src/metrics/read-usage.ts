import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { secondsAgo } from '@sandyard/db/statement-time'

interface SandboxUsage {
  readonly sandboxId: string
  readonly templateId: string
  readonly cpuUsedRatio: number
  readonly cpuCount: number
  readonly memoryUsedBytes: number
  readonly memoryTotalBytes: number
  readonly diskUsedBytes: number
  readonly diskTotalBytes: number
}

export type Usage = readonly SandboxUsage[]

/** Samples are taken every five seconds; an older one is not the present use. */
const FRESH_SECONDS = 30

/**
 * The newest samples of `most` running sandboxes: those that run the longest, because a set that changes little makes the fewest series over
 * time.
 */
export async function readUsage(db: Db, most: number): Promise<Usage> {
  const { rows } = await sql<SandboxUsage>`
    select chosen.sandbox_id as "sandboxId", chosen.template_id as "templateId", cpu_used_pct / 100 as "cpuUsedRatio",
      cpu_count as "cpuCount", mem_used as "memoryUsedBytes", mem_total as "memoryTotalBytes",
      disk_used as "diskUsedBytes", disk_total as "diskTotalBytes"
    from (
      select sandbox_id, template_id from sandbox where state = 'running' order by started_at, sandbox_id limit ${most}
    ) as chosen
    cross join lateral (
      select * from sandbox_metric
      where sandbox_metric.sandbox_id = chosen.sandbox_id
        and sampled_at > ${secondsAgo(FRESH_SECONDS)}
      order by sampled_at desc limit 1
    ) as latest
  `.execute(db)
  return rows
}
