import { within } from '@sandyard/kit/async/within'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'

const TIMEOUT_MS = 30_000

/**
 * Removes all incarnations of a build sandbox. Succeeds if there is none.
 *
 * @throws AppError of the runtime; `deadline_exceeded`
 */
export async function removeBuildSandbox(runtime: SandboxRuntime, sandboxId: string): Promise<void> {
  await within({ what: 'the removal of a build sandbox', timeoutMs: TIMEOUT_MS }, async (signal) => {
    const found = await runtime.list(sandboxId)
    for (const { incarnation } of found) {
      signal.throwIfAborted()
      await runtime.remove({ sandboxId, incarnation })
    }
  })
}
