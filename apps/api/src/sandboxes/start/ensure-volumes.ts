import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { SandboxSpec } from '@sandyard/runtime/types'

/** Makes the volumes that a sandbox mounts, where a process died before it had made them. */
export async function ensureVolumes(
  { volumes }: Pick<SandboxRuntime, 'volumes'>,
  { mounts }: Pick<SandboxSpec, 'mounts'>,
  signal: AbortSignal,
): Promise<void> {
  if (volumes === undefined) return
  const names = new Set(mounts.map(({ volume }) => volume))
  await Promise.all([...names].map((name) => volumes.create(name, signal)))
}
