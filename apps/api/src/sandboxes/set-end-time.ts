import { AppError } from '@sandyard/kit/errors/app-error'
import type { ConnectParts } from './connect-sandbox.ts'
import { sandboxNotRunning } from './sandbox-errors.ts'
import { parseSandboxId } from './sandbox-id.ts'
import { changeEndTime, findSandbox, isLive, type EndTimeRule } from './sandbox-queries.ts'

export interface EndTimeRequest {
  readonly givenId: string
  /** From now; silently cut off at the longest life from the start. */
  readonly seconds: number
  readonly rule: EndTimeRule
}

/**
 * Gives a running sandbox another end time (control-plane.md 6.9, 6.10).
 *
 * @throws AppError `not_found`; `conflict` while something is done to it; `invalid_argument` when it has lived too long already
 */
export async function setEndTime({ database, limits }: ConnectParts, teamId: string, request: EndTimeRequest): Promise<void> {
  const sandboxId = parseSandboxId(request.givenId)
  const maxSeconds = limits.maxLifetimeSeconds
  const row = await findSandbox(database.db, teamId, sandboxId)
  if (row?.state === 'running' && isLive(row) && row.started_at.getTime() + maxSeconds * 1000 <= Date.now()) {
    throw new AppError('invalid_argument', 'Max instance length exceeded')
  }
  const { seconds, rule } = request
  if (await changeEndTime(database.db, { teamId, sandboxId, seconds, rule, maxSeconds })) return
  const now = await findSandbox(database.db, teamId, sandboxId)
  throw sandboxNotRunning(request.givenId, now?.state)
}
