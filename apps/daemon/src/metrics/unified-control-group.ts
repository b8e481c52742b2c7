import { type ControlGroup, parseCount, parseFlatKeyed, type ReadFile, valueOf } from './control-group.ts'

const NANOSECONDS_PER_MICROSECOND = 1000

/**
 * Control groups v2: one folder has all files (the kernel's admin-guide/cgroup-v2).
 *
 * @throws when a file is missing or not as documented; the root of the hierarchy has none of them
 */
export function readUnifiedControlGroup(folder: string, readFile: ReadFile): ControlGroup {
  const names = ['cpu.stat', 'cpu.max', 'memory.max', 'memory.current', 'memory.stat']
  const [cpuStat = '', cpuMax = '', memoryMax = '', memoryCurrent = '', memoryStat = ''] = names.map((name) =>
    readFile(`${folder}/${name}`),
  )
  const [quota = '', period = ''] = cpuMax.trim().split(' ')
  const memory = parseFlatKeyed(memoryStat)
  // The kernel counts these as available memory.
  const reclaimable = valueOf(memory, 'inactive_file') + valueOf(memory, 'active_file') + (memory.get('slab_reclaimable') ?? 0)
  return {
    cpuNanoseconds: valueOf(parseFlatKeyed(cpuStat), 'usage_usec') * NANOSECONDS_PER_MICROSECOND,
    cpuQuota: quota === 'max' ? undefined : parseCount(quota) / parseCount(period),
    memoryLimitBytes: memoryMax.trim() === 'max' ? undefined : parseCount(memoryMax),
    memoryUsedBytes: Math.max(0, parseCount(memoryCurrent) - reclaimable),
    pageCacheBytes: valueOf(memory, 'file'),
  }
}
