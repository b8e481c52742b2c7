import type { ContainerStats } from 'dockerode'
import type { Usage } from '@sandyard/runtime/types'

const NANOSECONDS_PER_MICROSECOND = 1000

/**
 * Undefined for a container without processes. Memory is without the page cache that the kernel can reclaim, because the
 * limit applies to the rest.
 */
export function toUsage({ memory_stats, cpu_stats, pids_stats }: ContainerStats): Usage | undefined {
  if (pids_stats?.current === undefined) return undefined
  const cache = memory_stats.stats as { total_inactive_file?: number; inactive_file?: number } | undefined
  // In cgroup v1 the `total_` numbers include the children of a group; cgroup v2 has no such numbers.
  const reclaimable = cache?.total_inactive_file ?? cache?.inactive_file ?? 0
  return {
    memoryBytes: Math.max(0, (memory_stats.usage ?? 0) - reclaimable),
    cpuMicroseconds: Math.round(cpu_stats.cpu_usage.total_usage / NANOSECONDS_PER_MICROSECOND),
    pids: pids_stats.current,
  }
}
