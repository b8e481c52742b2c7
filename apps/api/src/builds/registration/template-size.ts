import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxResources } from '@sandyard/runtime/types'
import type { TemplateLimits } from '../build-config.ts'

export interface WantedSize {
  readonly cpuCount: number
  readonly memoryMib: number
  /** Minimum disk. The server's own disk size applies when it is larger. */
  readonly diskMib?: number | undefined
}

const MOST_CPUS = 32
const MORE = '(if you need to increase this limit, please contact support)'

/**
 * The resources of sandboxes of a new build. The checks run in the order of control-plane.md 10.3, semantics 5.
 *
 * @throws AppError `invalid_argument` with the texts of control-plane.md 10.3; that of the disk is ours
 */
export function checkTemplateSize({ cpuCount, memoryMib, diskMib = 0 }: WantedSize, limits: TemplateLimits): SandboxResources {
  const { maxCpuCount, maxMemoryMib, maxDiskMib } = limits
  if (cpuCount > MOST_CPUS) throw invalid(`CPU count must be at most ${MOST_CPUS}`)
  if (cpuCount !== 1 && cpuCount % 2 !== 0) throw invalid('CPU count must be 1 or an even number')
  if (cpuCount > maxCpuCount) throw invalid(`CPU count can't be higher than ${maxCpuCount} ${MORE}`)
  if (memoryMib % 2 !== 0) throw invalid('Memory must be divisible by 2')
  if (memoryMib > maxMemoryMib) throw invalid(`Memory can't be higher than ${maxMemoryMib} MiB ${MORE}`)
  if (diskMib > maxDiskMib) throw invalid(`Disk can't be higher than ${maxDiskMib} MiB ${MORE}`)
  return { cpuCount, memoryMib, diskMib: Math.min(Math.max(diskMib, limits.diskMib), maxDiskMib) }
}

function invalid(message: string): AppError {
  return new AppError('invalid_argument', message)
}
