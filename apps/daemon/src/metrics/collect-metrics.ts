import { existsSync, statfsSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import type { ControlGroup } from './control-group.ts'
import type { CpuUse } from './cpu-use.ts'
import type { KeptFiles } from './kept-files.ts'
import { readLegacyControlGroup } from './legacy-control-group.ts'
import { readUnifiedControlGroup } from './unified-control-group.ts'

/** The keys of the wire (envd.md 5.3); sizes are in bytes unless the key has another unit. */
export interface Metrics {
  readonly ts: number
  readonly cpu_count: number
  readonly cpu_used_pct: number
  readonly mem_total_mib: number
  readonly mem_used_mib: number
  readonly mem_total: number
  readonly mem_used: number
  readonly mem_cache: number
  readonly disk_used: number
  readonly disk_total: number
}

const MIB = 1024 ** 2

export interface MetricsSource {
  /** `/sys/fs/cgroup` */
  readonly controlGroups: string
  readonly files: KeptFiles
  readonly cpuUse: CpuUse
}

/**
 * Capacity and use of the container. Without a limit it has the capacity of the machine.
 *
 * @throws if the kernel does not report a value
 */
export function collectMetrics({ controlGroups, files, cpuUse }: MetricsSource): Metrics {
  // The numbers are in memory, and a thread of the pool would take longer.
  const disk = statfsSync('/')
  const group = readControlGroup(controlGroups, files)
  const atMs = performance.now()
  const cpus = group.cpuQuota ?? availableParallelism()
  const memoryBytes = Math.min(group.memoryLimitBytes ?? Infinity, totalmem())
  const diskBytes = disk.blocks * disk.bsize
  return {
    ts: Math.floor(Date.now() / 1000),
    cpu_count: Math.ceil(cpus),
    cpu_used_pct: cpuUse.next({ cpuNanoseconds: group.cpuNanoseconds, atMs }, cpus),
    mem_total_mib: Math.floor(memoryBytes / MIB),
    mem_used_mib: Math.floor(group.memoryUsedBytes / MIB),
    mem_total: memoryBytes,
    mem_used: group.memoryUsedBytes,
    mem_cache: group.pageCacheBytes,
    disk_used: diskBytes - disk.bavail * disk.bsize,
    disk_total: diskBytes,
  }
}

function readControlGroup(folder: string, files: KeptFiles): ControlGroup {
  const read = (path: string): string => files.read(path)
  return existsSync(`${folder}/cgroup.controllers`) ? readUnifiedControlGroup(folder, read) : readLegacyControlGroup(folder, read)
}
