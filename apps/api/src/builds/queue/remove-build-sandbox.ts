import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'

/** Ends a build sandbox in whatever incarnation it is. Absent is success. */
export async function removeBuildSandbox(runtime: SandboxRuntime, sandboxId: string): Promise<void> {
  const found = (await runtime.list()).filter((sandbox) => sandbox.sandboxId === sandboxId)
  for (const { incarnation } of found) await runtime.remove({ sandboxId, incarnation })
}
