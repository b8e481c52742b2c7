import { AppError } from '@sandyard/kit/errors/app-error'
import type { Actor } from '../events/actor.ts'
import type { Team } from '../teams/team.ts'
import { limitsOf } from '../teams/team-limits.ts'
import type { CreateParts } from './create/create-sandbox.ts'
import { sandboxNotRunning } from './sandbox-errors.ts'
import { parseSandboxId } from './sandbox-id.ts'
import { changeEndTime, type EndTimeRule } from './change-end-time.ts'
import { findSandbox, isLive } from './sandbox-queries.ts'

export interface EndTimeRequest {
  readonly givenId: string
  /** From now; silently truncated to the longest lifetime from the start. */
  readonly seconds: number
  readonly rule: EndTimeRule
  readonly actor: Actor
}

/**
 * Changes the end time of a running sandbox (control-plane.md 6.9, 6.10).
 *
 * @throws AppError `not_found`; `conflict` during a transition; `invalid_argument` when it has exceeded the longest lifetime
 */
export async function setEndTime(
  { database, limits }: Pick<CreateParts, 'database' | 'limits'>,
  { id: teamId, limits: own }: Team,
  request: EndTimeRequest,
): Promise<void> {
  const sandboxId = parseSandboxId(request.givenId)
  const { maxLifetimeSeconds: maxSeconds } = limitsOf(limits, own)
  const row = await findSandbox(database.db, teamId, sandboxId)
  if (row?.state === 'running' && isLive(row) && row.started_at.getTime() + maxSeconds * 1000 <= Date.now()) {
    throw new AppError('invalid_argument', 'Max instance length exceeded')
  }
  const { seconds, rule, actor } = request
  if (await changeEndTime(database, { teamId, sandboxId, seconds, rule, maxSeconds, actor })) return
  const now = await findSandbox(database.db, teamId, sandboxId)
  throw sandboxNotRunning(request.givenId, now?.state)
}
