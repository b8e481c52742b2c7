import { mkdir, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { startDaemon } from './support/test-daemon.ts'

type Files = Readonly<Record<string, string>>

/** The files as kernel 6.1 writes them. */
const UNIFIED: Files = {
  'cgroup.controllers': 'cpuset cpu io memory hugetlb pids rdma misc\n',
  'cpu.stat':
    'usage_usec 4000\nuser_usec 3000\nsystem_usec 1000\nnr_periods 5\nnr_throttled 0\nthrottled_usec 0\nnr_bursts 0\nburst_usec 0\n',
  'cpu.max': '150000 100000\n',
  'memory.max': '536870912\n',
  'memory.current': '104857600\n',
  'memory.stat': [
    'anon 20971520\nfile 62914560\nkernel 3145728\nkernel_stack 98304\npagetables 638976\nsec_pagetables 0\npercpu 1152\nsock 0\nvmalloc 0',
    'shmem 10485760\nfile_mapped 8110080\nfile_dirty 0\nfile_writeback 0\nswapcached 0\nanon_thp 0\nfile_thp 0\nshmem_thp 0\ninactive_anon 31318016',
    'active_anon 139264\ninactive_file 41943040\nactive_file 10485760\nunevictable 0\nslab_reclaimable 1048576\nslab_unreclaimable 327680',
    'slab 1376256\nworkingset_refault_anon 0\npgfault 2150\npgmajfault 0\n',
  ].join('\n'),
}

const LEGACY: Files = {
  'cpuacct/cpuacct.usage': '4000000\n',
  'cpu/cpu.cfs_quota_us': '50000\n',
  'cpu/cpu.cfs_period_us': '100000\n',
  'memory/memory.limit_in_bytes': '536870912\n',
  'memory/memory.usage_in_bytes': '104857600\n',
  'memory/memory.stat': [
    'cache 1\nrss 1\ninactive_file 1\nactive_file 1\nhierarchical_memory_limit 536870912\nhierarchical_memsw_limit 536870912',
    'total_cache 62914560\ntotal_rss 20971520\ntotal_shmem 10485760\ntotal_inactive_anon 31318016\ntotal_active_anon 139264',
    'total_inactive_file 41943040\ntotal_active_file 10485760\ntotal_unevictable 0\n',
  ].join('\n'),
}

const scratch = await createScratchDirectory()
afterAll(() => scratch[Symbol.asyncDispose]())

let count = 0
async function metricsOf(files: Files): Promise<{ response: Response; metrics: Record<string, number> | undefined }> {
  const folder = join(scratch.path, String(count++))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  await using daemon = await startDaemon({ SANDYARD_CONTROL_GROUPS: folder })
  const response = await fetch(`${daemon.url}/metrics`)
  const body = await response.text()
  return { response, metrics: body === '' ? undefined : (JSON.parse(body) as Record<string, number>) }
}

describe('[daemon GET /metrics]', () => {
  it.each([
    ['v2', UNIFIED, { cpu_count: 2, mem_used: 51_380_224, mem_used_mib: 49 }],
    ['v1', LEGACY, { cpu_count: 1, mem_used: 52_428_800, mem_used_mib: 50 }],
  ])('reports limits and use of the container, from its control group %s', async (_, files, expected) => {
    const before = Math.floor(Date.now() / 1000)
    const { response, metrics } = await metricsOf(files)
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ])
    expect(metrics).toEqual({
      ...expected,
      ts: expect.any(Number),
      cpu_used_pct: expect.any(Number),
      mem_total: 536_870_912,
      mem_total_mib: 512,
      mem_cache: 62_914_560,
      disk_used: expect.any(Number),
      disk_total: expect.any(Number),
      process_starts: 0,
      process_starts_by_shell: {},
      process_start_failures: {},
      process_starts_stuck: 0,
      process_starts_without_limits: {},
    })
    expect(metrics?.['ts']).toBeGreaterThanOrEqual(before)
    expect(Number.isInteger(metrics?.['ts'])).toBe(true)
    expect(metrics?.['disk_used']).toBeLessThan(metrics?.['disk_total'] ?? 0)
  })

  it.each([
    ['v2', { ...UNIFIED, 'cpu.max': 'max 100000\n', 'memory.max': 'max\n' }],
    ['v1', { ...LEGACY, 'cpu/cpu.cfs_quota_us': '-1\n', 'memory/memory.limit_in_bytes': '9223372036854771712\n' }],
  ])('reports the figures of the machine if the control group %s sets no limit', async (_, files) => {
    const { metrics } = await metricsOf(files)
    expect(metrics?.['mem_total']).toBe(totalmem())
    expect(metrics?.['cpu_count']).toBeGreaterThanOrEqual(1)
  })

  it.each([
    ['nothing is there', {}],
    ['it is the root of the hierarchy', { 'cgroup.controllers': '', 'cpu.stat': UNIFIED['cpu.stat'] ?? '' }],
    ['it is not as documented', { ...UNIFIED, 'memory.current': 'much\n' }],
    ['a line is missing', { ...LEGACY, 'memory/memory.stat': 'cache 1\n' }],
  ])('returns an empty 500 when %s', async (_, files) => {
    const { response, metrics } = await metricsOf(files)
    expect([response.status, metrics, response.headers.get('cache-control')]).toEqual([500, undefined, 'no-store'])
  })
})
