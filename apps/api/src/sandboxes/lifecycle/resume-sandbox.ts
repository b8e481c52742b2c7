import type { Keep } from '@sandyard/runtime/types'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Actor } from '../../events/actor.ts'
import type { Team } from '../../teams/team.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import { checkLifetime } from '../check-lifetime.ts'
import { sandboxNotFound } from '../sandbox-errors.ts'
import { parseSandboxId } from '../sandbox-id.ts'
import { findSandbox, isLive, type LiveSandboxRow } from '../sandbox-queries.ts'
import { toAnswer, type SandboxAnswer } from '../read/sandbox-view.ts'
import { bringBack } from './bring-back.ts'
import { WAIT_MS, type LifecycleParts } from './lifecycle-parts.ts'

export interface ResumeRequest {
  readonly givenId: string
  readonly seconds: number
  readonly keep: Keep
  /** Deprecated override; undefined keeps the stored value. */
  readonly autoPause: boolean | undefined
  readonly actor: Actor
}

/**
 * Resumes a paused sandbox (control-plane.md 6.7). A pause in flight is waited for; concurrent resumes join the first.
 *
 * @throws AppError `invalid_argument` for the timeout; `not_found`; `conflict` for a running one; those of a start (6.2.4)
 */
export async function resumeSandbox(parts: LifecycleParts, team: Team, request: ResumeRequest): Promise<SandboxAnswer> {
  const { givenId, seconds, keep, autoPause, actor } = request
  checkLifetime(seconds, limitsOf(parts.limits, team.limits).maxLifetimeSeconds)
  const sandboxId = parseSandboxId(givenId)
  let hasJoined = false
  const row = await parts.changes.until<LiveSandboxRow>(
    sandboxId,
    async () => {
      const found = await findSandbox(parts.database.db, team.id, sandboxId)
      if (found === undefined || !isLive(found) || found.state === 'starting' || found.state === 'killing') throw sandboxNotFound(givenId)
      if (found.state === 'running') {
        if (hasJoined) return found
        throw new AppError('conflict', `Sandbox ${found.sandbox_id} is already running`)
      }
      if (found.state === 'snapshotting') {
        throw new AppError('conflict', `Sandbox snapshot is currently being created for sandbox '${found.sandbox_id}'`)
      }
      if (found.state === 'resuming' && keep === 'files') {
        throw new AppError('conflict', `A start of sandbox '${found.sandbox_id}' is in flight`, { reason: 'sandbox_start_in_flight' })
      }
      if (found.state === 'resuming') hasJoined = true
      if (found.state !== 'paused') return undefined
      const wish = { keep, lifetimeSeconds: seconds, actor, ...(autoPause !== undefined && { autoPause }) }
      return (await bringBack(parts, found, wish)) ? found : undefined
    },
    { timeoutMs: WAIT_MS },
  )
  return toAnswer(row)
}
