import type { Database } from '@sandyard/db/database'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import { isBuildSandboxId } from '../build-sandbox-id.ts'

export interface SandboxUpkeepParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly log: Logger
}

/**
 * Removes the sandboxes of builds that nobody works at any more. One that was there before the jobs were read, and is named by none then,
 * has no owner: its job would have named it first.
 */
export async function collectBuildSandboxes({ database, runtime, log }: SandboxUpkeepParts): Promise<void> {
  const sandboxes = (await runtime.list()).filter(({ sandboxId }) => isBuildSandboxId(sandboxId))
  if (sandboxes.length === 0) return
  const jobs = await database.db.selectFrom('build_job').select('sandbox_id').where('server_id', 'is not', null).execute()
  const owned = new Set(jobs.map(({ sandbox_id }) => sandbox_id))
  for (const { sandboxId, incarnation } of sandboxes) {
    if (owned.has(sandboxId)) continue
    try {
      await runtime.remove({ sandboxId, incarnation })
      log.warn({ sandboxId, incarnation }, 'removed the sandbox of a build that has ended')
    } catch (err) {
      log.warn({ err, sandboxId, incarnation }, 'the sandbox of a build that has ended could not be removed yet')
    }
  }
}
