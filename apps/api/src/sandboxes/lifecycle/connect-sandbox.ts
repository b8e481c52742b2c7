import type { Keep } from '@sandyard/runtime/types'
import type { Actor } from '../../events/actor.ts'
import type { Team } from '../../teams/team.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import { checkLifetime } from '../check-lifetime.ts'
import { lifetimeTooLong, sandboxNotRunning } from '../sandbox-errors.ts'
import { parseSandboxId } from '../sandbox-id.ts'
import { changeEndTime } from '../change-end-time.ts'
import { findSandbox, isLive, type LiveSandboxRow } from '../sandbox-queries.ts'
import { toAnswer, type SandboxAnswer } from '../read/sandbox-view.ts'
import { bringBack } from './bring-back.ts'
import { WAIT_MS, type LifecycleParts } from './lifecycle-parts.ts'

export interface ConnectRequest {
  readonly givenId: string
  /** From now. Never shortens the lifetime of a running sandbox. */
  readonly seconds: number
  readonly keep: Keep
  readonly actor: Actor
}

export interface Connected {
  readonly answer: SandboxAnswer
  /** Whether it was paused when the request arrived. */
  readonly isResumed: boolean
}

/**
 * Returns a running sandbox, which lives for at least `seconds` from now; a paused one is resumed. Transitions in flight are waited for
 * (control-plane.md 6.8).
 *
 * @throws AppError `invalid_argument` above the limit, checked first; `not_found`; `conflict` while it is being killed; those of a start
 */
export async function connectSandbox(parts: LifecycleParts, { id: teamId, limits }: Team, request: ConnectRequest): Promise<Connected> {
  const { givenId, seconds, keep, actor } = request
  const { maxLifetimeSeconds: maxSeconds } = limitsOf(parts.limits, limits)
  if (seconds > maxSeconds) throw lifetimeTooLong(maxSeconds)
  const sandboxId = parseSandboxId(givenId)
  let isResumed = false
  const row = await parts.changes.until<LiveSandboxRow>(
    sandboxId,
    async () => {
      const isExtended = await changeEndTime(parts.database, { teamId, sandboxId, seconds, rule: 'extend', maxSeconds, actor })
      const found = await findSandbox(parts.database.db, teamId, sandboxId)
      if (found === undefined || !isLive(found)) throw sandboxNotRunning(givenId, undefined)
      // Another request has resumed it since: the next look extends its lifetime.
      if (found.state === 'running') return isExtended ? found : undefined
      if (found.state === 'killing' || found.state === 'starting') throw sandboxNotRunning(givenId, found.state)
      isResumed ||= found.state !== 'snapshotting'
      if (found.state !== 'paused') return undefined
      checkLifetime(seconds, maxSeconds)
      return (await bringBack(parts, found, { keep, lifetimeSeconds: seconds, actor })) ? found : undefined
    },
    { timeoutMs: WAIT_MS },
  )
  return { answer: toAnswer(row), isResumed }
}
