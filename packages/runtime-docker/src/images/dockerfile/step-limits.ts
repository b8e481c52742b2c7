import type { ContainerInspectInfo, ImageBuildOptions } from 'dockerode'
import type { CgroupFacts } from '../../engine/engine-facts.ts'

/** `ulimits` is JSON: the client does not encode lists. */
type StepLimits = ImageBuildOptions & { readonly ulimits: string }

/**
 * The limits of a build's steps: those of the sandbox in which they run. With cgroup v1 the control group of a step is a child of the
 * sandbox's group, so the limits, also that of processes, apply to both together. With cgroup v2 a group with processes cannot have
 * children, and the builder has no limit of processes: then only memory and processor time are limited, for each step.
 */
export function stepLimits({ Id, HostConfig }: ContainerInspectInfo, { driver, version }: CgroupFacts): StepLimits {
  const isNested = driver === 'cgroupfs' && version === '1' && (HostConfig.CgroupParent ?? '') === ''
  return {
    memory: HostConfig.Memory ?? 0,
    memswap: HostConfig.MemorySwap ?? 0,
    cpuperiod: HostConfig.CpuPeriod ?? 0,
    cpuquota: HostConfig.CpuQuota ?? 0,
    shmsize: HostConfig.ShmSize ?? 0,
    // Open files and core dumps, which a program of the host would handle.
    ulimits: JSON.stringify(HostConfig.Ulimits ?? []),
    ...(isNested ? { cgroupparent: `/docker/${Id}` } : {}),
  }
}
