import pLimit from 'p-limit'
import type { Database } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { SandboxRef } from '@sandyard/runtime/types'
import { isBuildSandboxId } from '../../sandboxes/sandbox-id.ts'

export interface SandboxUpkeepParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly log: Logger
}

const REMOVALS_AT_ONCE = 4
const CALL_TIMEOUT_MS = 30_000

/**
 * Removes orphaned build sandboxes. A job stores the id before the sandbox starts, and the sandboxes are listed before the jobs are read: a
 * listed sandbox without a job is an orphan.
 */
export async function collectBuildSandboxes({ database, runtime, log }: SandboxUpkeepParts): Promise<void> {
  const all = await within({ what: 'the list of sandboxes', timeoutMs: CALL_TIMEOUT_MS }, () => runtime.list())
  const sandboxes = all.filter(({ sandboxId }) => isBuildSandboxId(sandboxId))
  if (sandboxes.length === 0) return
  // One row for each running build of all servers.
  const jobs = await database.db.selectFrom('build_job').select('sandbox_id').where('server_id', 'is not', null).execute()
  const owned = new Set(jobs.map(({ sandbox_id }) => sandbox_id))
  const limit = pLimit(REMOVALS_AT_ONCE)
  const orphans = sandboxes.filter(({ sandboxId }) => !owned.has(sandboxId))
  await Promise.all(orphans.map((orphan) => limit(() => remove(runtime, orphan, log))))
}

async function remove(runtime: SandboxRuntime, { sandboxId, incarnation }: SandboxRef, log: Logger): Promise<void> {
  const what = 'the removal of the sandbox'
  try {
    await within({ what, timeoutMs: CALL_TIMEOUT_MS }, () => runtime.remove({ sandboxId, incarnation }))
    log.warn({ sandboxId, incarnation }, 'removed the sandbox of a build that has ended')
  } catch (err) {
    log.warn({ err, sandboxId, incarnation }, 'the sandbox of a build that has ended could not be removed yet')
  }
}
