import { existsSync } from 'node:fs'
import { runStep } from '@sandyard/runtime-docker/host/run-step'

/** Whether the kernel's control groups are mounted: the unified hierarchy, or at least the old one's memory and devices. */
export function hasControlGroups(): boolean {
  return (
    existsSync('/sys/fs/cgroup/cgroup.controllers') || ['memory', 'devices'].every((name) => existsSync(`/sys/fs/cgroup/${name}/tasks`))
  )
}

/** Mounts the control groups where nothing did it at boot. An engine that misses them says so itself, in its log. */
export async function mountControlGroups(): Promise<void> {
  if (!hasControlGroups()) await runStep('cgroupfs-mount', [], { timeoutMs: 30_000 })
}
