/** What a daemon reports of its sandbox at `/metrics` (envd.md 5.3). Sizes are bytes. */
export interface DaemonMetrics {
  readonly cpuCount: number
  /** Percent of all its processors, 0 to 100. */
  readonly cpuUsedPct: number
  /** Without `memCache`. */
  readonly memUsed: number
  readonly memCache: number
  readonly memTotal: number
  readonly diskUsed: number
  readonly diskTotal: number
}

const MAX_CPUS = 1_000_000

/** Reads the answer of an untrusted daemon; undefined when it is not of the documented form. */
export function parseDaemonMetrics(answer: unknown): DaemonMetrics | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  const values = new Map(Object.entries(answer))
  const cpuCount = toSize(values.get('cpu_count'))
  const cpuUsedPct = values.get('cpu_used_pct') as unknown
  const memUsed = toSize(values.get('mem_used'))
  const memCache = toSize(values.get('mem_cache'))
  const memTotal = toSize(values.get('mem_total'))
  const diskUsed = toSize(values.get('disk_used'))
  const diskTotal = toSize(values.get('disk_total'))
  if (cpuCount === undefined || cpuCount > MAX_CPUS || typeof cpuUsedPct !== 'number' || !(cpuUsedPct >= 0)) return undefined
  if (memUsed === undefined || memCache === undefined || memTotal === undefined) return undefined
  if (diskUsed === undefined || diskTotal === undefined) return undefined
  return { cpuCount, cpuUsedPct: Math.min(100, cpuUsedPct), memUsed, memCache, memTotal, diskUsed, diskTotal }
}

function toSize(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}
