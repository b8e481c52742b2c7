/** The kernel's counters for the container, since its start. */
export interface ControlGroup {
  readonly cpuNanoseconds: number
  /** CPUs that the quota allows; undefined without one. */
  readonly cpuQuota: number | undefined
  readonly memoryLimitBytes: number | undefined
  /** Without reclaimable page cache; tmpfs counts, because it cannot be reclaimed. */
  readonly memoryUsedBytes: number
  /** Files and tmpfs in memory. */
  readonly pageCacheBytes: number
}

/** Reads one of the kernel's files at once: they are in memory, and a thread of the pool would take longer than the read. */
export type ReadFile = (path: string) => string

/** The values of a file of lines `key value`, such as `memory.stat`. */
export function parseFlatKeyed(text: string): ReadonlyMap<string, number> {
  const pairs = text.split('\n').map((line) => line.split(' '))
  return new Map(pairs.flatMap(([key, value]) => (key === undefined || value === undefined ? [] : [[key, Number(value)] as const])))
}

/** @throws if the key is missing */
export function valueOf(values: ReadonlyMap<string, number>, key: string): number {
  const value = values.get(key)
  if (value === undefined || Number.isNaN(value)) throw new Error(`the control group does not tell ${key}`)
  return value
}

/** @throws if it is not a number */
export function parseCount(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) throw new Error(`not a number of a control group: ${JSON.stringify(text)}`)
  return value
}
