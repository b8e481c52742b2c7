import { type ControlGroup, parseCount, parseFlatKeyed, type ReadFile, valueOf } from './control-group.ts'

/**
 * Control groups v1: a folder for each controller (the kernel's admin-guide/cgroup-v1).
 *
 * @throws when a file is missing or not as documented
 */
export function readLegacyControlGroup(folder: string, readFile: ReadFile): ControlGroup {
  const names = [
    'cpuacct/cpuacct.usage',
    'cpu/cpu.cfs_quota_us',
    'cpu/cpu.cfs_period_us',
    'memory/memory.limit_in_bytes',
    'memory/memory.usage_in_bytes',
    'memory/memory.stat',
  ]
  const [cpuUsage = '', quotaText = '', period = '', limit = '', usage = '', stat = ''] = names.map((name) => readFile(`${folder}/${name}`))
  const quota = parseCount(quotaText)
  // Keys with `total_` include child groups.
  const memory = parseFlatKeyed(stat)
  return {
    cpuNanoseconds: parseCount(cpuUsage),
    cpuQuota: quota < 0 ? undefined : quota / parseCount(period),
    // Without a limit the value is the largest number of pages.
    memoryLimitBytes: parseCount(limit),
    memoryUsedBytes: Math.max(0, parseCount(usage) - valueOf(memory, 'total_inactive_file') - valueOf(memory, 'total_active_file')),
    pageCacheBytes: valueOf(memory, 'total_cache'),
  }
}
