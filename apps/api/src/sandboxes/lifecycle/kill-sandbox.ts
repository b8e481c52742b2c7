import type { SandboxRef } from '@sandyard/runtime/types'
import type { Actor } from '../../events/actor.ts'
import { beginEnd, finishEndWithLogs, killing } from '../end/end-sandbox.ts'
import { sandboxNotFound } from '../sandbox-errors.ts'
import { parseSandboxId } from '../sandbox-id.ts'
import { findSandbox, type SandboxRow } from '../sandbox-queries.ts'
import { refOf, WAIT_MS, type LifecycleParts } from './lifecycle-parts.ts'

export interface KillRequest {
  readonly givenId: string
  readonly actor: Actor
}

/**
 * Ends a sandbox of the team. On return it is unreachable and counts as gone; the engine removes it in the background. Concurrent kills join;
 * a snapshot in flight is waited for (control-plane.md 6.5).
 *
 * @throws AppError `not_found`
 */
export async function killSandbox(parts: LifecycleParts, teamId: string, { givenId, actor }: KillRequest): Promise<void> {
  const sandboxId = parseSandboxId(givenId)
  let last: SandboxRow | undefined
  await parts.changes.until(
    sandboxId,
    async () => {
      const row = await findSandbox(parts.database.db, teamId, sandboxId)
      // Another request has killed it since the last look.
      if (row === undefined && last !== undefined) return last
      if (row === undefined || row.state === 'starting') throw sandboxNotFound(givenId)
      last = row
      if (row.state === 'killing') return row
      if (row.state === 'snapshotting') return undefined
      const ref = refOf(row)
      if (!(await beginEnd(parts.database, ref, killing('killed', actor)))) return undefined
      parts.starts.abort(ref)
      void removeLater(parts, ref)
      return row
    },
    { timeoutMs: WAIT_MS, outlivesClient: true },
  )
}

/** Removals of the engine slow down creates that go on at the same time. */
async function removeLater(parts: LifecycleParts, ref: SandboxRef): Promise<void> {
  await parts.pool.quiet()
  // A pause at the end time may be running.
  await parts.repairs.runNext(ref, () => finishEndWithLogs(parts, ref))
}
