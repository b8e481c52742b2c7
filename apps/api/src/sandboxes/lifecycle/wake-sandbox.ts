import { AppError } from '@sandyard/kit/errors/app-error'
import { noteTeam } from '@sandyard/kit/tracing/scope'
import { TRAFFIC } from '../../events/actor.ts'
import { sandboxNotFound } from '../sandbox-errors.ts'
import { parseSandboxId } from '../sandbox-id.ts'
import { selectSandboxes, type SandboxRow } from '../sandbox-queries.ts'
import { bringBack } from './bring-back.ts'
import { WAIT_MS, type LifecycleParts } from './lifecycle-parts.ts'

/**
 * Resumes a paused sandbox because a request for it arrived at the proxy, which has checked the tokens of the request. Returns when it runs
 * (control-plane.md 19.6). Concurrent calls join.
 *
 * @throws AppError `not_found` when traffic does not wake it; `permission_denied` for a blocked team; `conflict` when its state does not
 * settle; those of a start
 */
export async function wakeSandbox(parts: LifecycleParts, givenId: string): Promise<void> {
  const sandboxId = parseSandboxId(givenId)
  try {
    await parts.changes.until(sandboxId, () => wake(parts, givenId, sandboxId), { timeoutMs: WAIT_MS })
  } catch (cause) {
    if (cause instanceof AppError && cause.kind === 'deadline_exceeded') {
      throw new AppError('conflict', 'The sandbox is still transitioning. Try again in a moment.', { cause })
    }
    throw cause
  }
}

async function wake(parts: LifecycleParts, givenId: string, sandboxId: string): Promise<SandboxRow | undefined> {
  const { db } = parts.database
  const row = await selectSandboxes(db).where('sandbox_id', '=', sandboxId).executeTakeFirst()
  if (row === undefined || row.state === 'starting' || row.state === 'killing') throw sandboxNotFound(givenId)
  noteTeam(row.team_id)
  if (row.state === 'running' || row.state === 'snapshotting') return row
  if (row.state !== 'paused') return undefined
  if (!row.auto_resume || row.pause_keep !== 'memory') throw sandboxNotFound(givenId)
  const team = await db.selectFrom('team').select(['is_banned', 'is_blocked']).where('id', '=', row.team_id).executeTakeFirstOrThrow()
  if (team.is_banned || team.is_blocked) throw new AppError('permission_denied', 'The team of this sandbox is blocked.')
  const wish = { keep: 'memory', lifetimeSeconds: row.auto_resume_seconds, actor: TRAFFIC } as const
  return (await bringBack(parts, row, wish)) ? row : undefined
}
