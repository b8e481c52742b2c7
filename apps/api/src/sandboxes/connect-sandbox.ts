import { AppError } from '@sandyard/kit/errors/app-error'
import type { Database } from '@sandyard/db/database'
import type { SandboxLimits } from './create-sandbox.ts'
import { lifetimeTooLong, sandboxNotRunning } from './sandbox-errors.ts'
import { parseSandboxId } from './sandbox-id.ts'
import { changeEndTime, findSandbox, isLive } from './sandbox-queries.ts'
import { toAnswer, type SandboxAnswer } from './sandbox-view.ts'

export interface ConnectParts {
  readonly database: Database
  readonly limits: SandboxLimits
}

export interface ConnectRequest {
  readonly givenId: string
  /** From now. Never shortens the lifetime. */
  readonly seconds: number
}

/**
 * Returns a running sandbox and extends its lifetime to at least `seconds` (control-plane.md 6.8).
 *
 * @throws AppError `invalid_argument` above the limit, checked first; `not_found`; `conflict` while the sandbox is ending
 */
export async function connectSandbox(parts: ConnectParts, teamId: string, request: ConnectRequest): Promise<SandboxAnswer> {
  const { maxLifetimeSeconds } = parts.limits
  if (request.seconds > maxLifetimeSeconds) throw lifetimeTooLong(maxLifetimeSeconds)
  const sandboxId = parseSandboxId(request.givenId)
  const { db } = parts.database
  await changeEndTime(db, { teamId, sandboxId, seconds: request.seconds, rule: 'extend', maxSeconds: maxLifetimeSeconds })
  const row = await findSandbox(db, teamId, sandboxId)
  if (row?.state === 'running' && isLive(row)) return toAnswer(row)
  if (row?.state === 'paused' || row?.state === 'pausing' || row?.state === 'snapshotting') {
    throw new AppError('unimplemented', 'This server cannot resume sandboxes yet.')
  }
  throw sandboxNotRunning(request.givenId, row?.state)
}
