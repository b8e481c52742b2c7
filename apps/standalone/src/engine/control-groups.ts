import { existsSync } from 'node:fs'
import { runStep } from '@sandyard/runtime-docker/host/run-step'

/** Whether the kernel's control groups are mounted: cgroup v2, or at least memory and devices of v1. */
export function hasControlGroups(): boolean {
  return (
    existsSync('/sys/fs/cgroup/cgroup.controllers') || ['memory', 'devices'].every((name) => existsSync(`/sys/fs/cgroup/${name}/tasks`))
  )
}

/** Mounts the control groups if the boot did not. An engine that lacks them reports it in its log. */
export async function mountControlGroups(): Promise<void> {
  if (!hasControlGroups()) await runStep('cgroupfs-mount', [], { timeoutMs: 30_000 })
}
