/** What the kernel counts for the container, since its start. */
export interface ControlGroup {
  readonly cpuNanoseconds: number
  /** CPUs that it may use at once, by its quota. Undefined without one. */
  readonly cpuQuota: number | undefined
  readonly memoryLimitBytes: number | undefined
  /** Without the files that the kernel would drop from memory to make room; tmpfs counts, as nothing drops that. */
  readonly memoryUsedBytes: number
  /** Files and tmpfs in memory. */
  readonly pageCacheBytes: number
}

/** Reads one of the kernel's files. */
export type ReadFile = (path: string) => Promise<string>

/** The values of a file of lines `key value`, such as `memory.stat`. */
export function parseFlatKeyed(text: string): ReadonlyMap<string, number> {
  const pairs = text.split('\n').map((line) => line.split(' '))
  return new Map(pairs.flatMap(([key, value]) => (key === undefined || value === undefined ? [] : [[key, Number(value)] as const])))
}

/** @throws when the kernel does not say it */
export function valueOf(values: ReadonlyMap<string, number>, key: string): number {
  const value = values.get(key)
  if (value === undefined || Number.isNaN(value)) throw new Error(`the control group does not tell ${key}`)
  return value
}

/** @throws when it is not a number */
export function parseCount(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) throw new Error(`not a number of a control group: ${JSON.stringify(text)}`)
  return value
}
