import type { ContainerInspectInfo, ImageBuildOptions } from 'dockerode'
import type { CgroupFacts } from '../../engine/engine-facts.ts'

/**
 * The limits of a build's steps: those of the sandbox that they are within. With cgroup v1 their control groups are inside the
 * sandbox's own, so its limits hold for the sum of both, that of processes among them. Elsewhere a group with processes has no groups
 * inside, and the builder knows no limit of processes; memory and processor time are limited for each step.
 */
export function stepLimits({ Id, HostConfig }: ContainerInspectInfo, { driver, version }: CgroupFacts): ImageBuildOptions {
  const isNested = driver === 'cgroupfs' && version === '1' && (HostConfig.CgroupParent ?? '') === ''
  return {
    memory: HostConfig.Memory ?? 0,
    memswap: HostConfig.MemorySwap ?? 0,
    cpuperiod: HostConfig.CpuPeriod ?? 0,
    cpuquota: HostConfig.CpuQuota ?? 0,
    shmsize: HostConfig.ShmSize ?? 0,
    ...(isNested ? { cgroupparent: `/docker/${Id}` } : {}),
  }
}
