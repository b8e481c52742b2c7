import type { Environment } from '@sandyard/kit/config/parse-config'
import { readStandaloneConfig } from '../config.ts'

const MIB = 1024 ** 2

/**
 * Starts this program again in the same process, with the heap limit of its settings. V8 accepts the limit only at its start, and only
 * this program reads the settings. Returns when the limit is in force, or when the settings have an error, which the start reports.
 */
export function applyHeapLimit(environment: Environment): void {
  const flag = `--max-old-space-size=${heapMib(environment)}`
  if (flag.endsWith('undefined') || process.execArgv.includes(flag)) return
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, flag, ...process.argv.slice(1)])
}

function heapMib(environment: Environment): number | undefined {
  try {
    return Math.floor(readStandaloneConfig(environment).apiHeap / MIB)
  } catch {
    return undefined
  }
}
