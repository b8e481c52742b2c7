import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { SandboxSpec } from '@sandyard/runtime/types'

/** Makes the volumes that a sandbox mounts, where a process died before it had made them. */
export async function ensureVolumes(
  { volumes }: Pick<SandboxRuntime, 'volumes'>,
  { mounts }: Pick<SandboxSpec, 'mounts'>,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(mounts.map(({ volume }) => volumes?.create(volume, signal)))
}
