import { AppError } from '@sandyard/kit/errors/app-error'
import type { Keep } from '@sandyard/runtime/types'
import { isResponsive } from '../../daemon/is-responsive.ts'
import type { Actor } from '../../events/actor.ts'
import { teamTransaction } from '../../teams/team-transaction.ts'
import { sandboxNotFound } from '../sandbox-errors.ts'
import { parseSandboxId } from '../sandbox-id.ts'
import { findSandbox } from '../sandbox-queries.ts'
import { changeState } from '../sandbox-state.ts'
import { carryOutPause } from './carry-out-pause.ts'
import { checkPaused } from './check-paused.ts'
import { endpointOf, refOf, WAIT_MS, type LifecycleParts } from './lifecycle-parts.ts'
import { pausing } from './pause-steps.ts'

export interface PauseRequest {
  readonly givenId: string
  readonly keep: Keep
  /** Refuses a pause whose memory would hold a daemon that does not answer. */
  readonly isStrict: boolean
  readonly actor: Actor
}

/**
 * Pauses a running sandbox and returns when it is paused. Concurrent pauses join; a snapshot or a resume in flight is waited for
 * (control-plane.md 6.6; `isStrict`: clients-python-2.63.md 6).
 *
 * @throws AppError `not_found`; `resource_exhausted` at the limit of paused sandboxes; `unavailable` for a strict pause of an unresponsive sandbox; `conflict` when it is paused already or being killed; `internal` when it cannot be paused: it still runs
 */
export async function pauseSandbox(parts: LifecycleParts, teamId: string, request: PauseRequest): Promise<void> {
  const sandboxId = parseSandboxId(request.givenId)
  const { db } = parts.database
  /** Whether it ran when the request arrived: then a pause by another request is also the answer to this one. */
  let hasRun = false
  /** The run that another request is pausing. */
  let joined: { readonly startedAt: Date | null } | undefined
  await parts.changes.until(
    sandboxId,
    async () => {
      const row = await findSandbox(db, teamId, sandboxId)
      if (row === undefined || row.state === 'starting') throw sandboxNotFound(request.givenId)
      if (row.state === 'killing') throw notPausable(row.sandbox_id, 'killing')
      if (row.state === 'pausing') joined ??= { startedAt: row.started_at }
      if (row.state === 'paused') {
        if (hasRun || joined !== undefined) return row
        throw new AppError('conflict', `Error pausing sandbox - sandbox '${row.sandbox_id}' is already paused`)
      }
      if (row.state !== 'running') return undefined
      if (joined !== undefined) {
        if (isSameRun(joined.startedAt, row.started_at)) throw new AppError('internal', 'Error pausing sandbox')
        return row
      }
      hasRun = true
      const ref = refOf(row)
      const wish = { keep: request.keep, actor: request.actor, isResponsive: await isResponsive(endpointOf(row)) }
      if (!wish.isResponsive) {
        const now = await findSandbox(db, teamId, sandboxId)
        // The pause of another request has frozen the daemon meanwhile: its silence says nothing.
        if (now?.state !== 'running' || !isSameRun(now.started_at, row.started_at)) return undefined
        if (request.isStrict) throw notResponsive(row.sandbox_id)
      }
      using _held = parts.inFlight.hold(ref)
      const isOurs = await teamTransaction(parts.database, { teamId }, async (team) => {
        await checkPaused(team, parts.limits, row.sandbox_id)
        return changeState(team.tx, ref, pausing(wish, parts.serverId))
      })
      if (!isOurs) return undefined
      if (!(await carryOutPause(parts, ref, wish))) throw notPausable(row.sandbox_id, 'killing')
      return row
    },
    { timeoutMs: WAIT_MS },
  )
}

function isSameRun(a: Date | null, b: Date | null): boolean {
  return a?.getTime() === b?.getTime()
}

function notResponsive(sandboxId: string): AppError {
  return new AppError('unavailable', `The daemon of sandbox '${sandboxId}' does not answer: the sandbox was not paused`, {
    reason: 'sandbox_snapshot_guest_agent_unresponsive',
    headers: { 'should-retry': 'false' },
  })
}

function notPausable(sandboxId: string, state: string): AppError {
  return new AppError('conflict', `Sandbox '${sandboxId}' cannot be paused while in '${state}' state`)
}
