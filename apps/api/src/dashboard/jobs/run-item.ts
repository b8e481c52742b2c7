import type { DashboardJobTable } from '@sandyard/db/schema/dashboard-job'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { RESUME_SECONDS } from '@sandyard/api-contract/sandboxes/lifetime'
import { teamBanned, teamBlocked } from '../../auth/auth-errors.ts'
import { findTeam } from '../../auth/auth-queries.ts'
import type { Actor } from '../../events/actor.ts'
import { connectSandbox } from '../../sandboxes/lifecycle/connect-sandbox.ts'
import { killSandbox } from '../../sandboxes/lifecycle/kill-sandbox.ts'
import type { LifecycleParts } from '../../sandboxes/lifecycle/lifecycle-parts.ts'
import { pauseSandbox } from '../../sandboxes/lifecycle/pause-sandbox.ts'
import { findSandbox } from '../../sandboxes/sandbox-queries.ts'
import { setEndTime } from '../../sandboxes/set-end-time.ts'

export interface JobItemRequest {
  readonly action: DashboardJobTable['action']
  readonly teamId: string
  readonly sandboxId: string
  readonly actor: Actor
  /** Of `extend`: the wanted end time. */
  readonly until: Date | undefined
}

export interface ItemOutcome {
  readonly status: 'done' | 'failed' | 'skipped'
  readonly message: string | null
}

const DONE: ItemOutcome = { status: 'done', message: null }
const skipped = (message: string): ItemOutcome => ({ status: 'skipped', message })

/** Does the action to one sandbox. It may be done again after a crash, with the same result. Never throws. */
export async function runItem(parts: LifecycleParts, request: JobItemRequest): Promise<ItemOutcome> {
  try {
    return await act(parts, request)
  } catch (err) {
    if (isAppError(err)) return { status: 'failed', message: err.message }
    parts.log.error({ err, sandboxId: request.sandboxId, action: request.action }, 'an action of the dashboard failed unexpectedly')
    return { status: 'failed', message: 'An unexpected error: the log of the server has it' }
  }
}

async function act(parts: LifecycleParts, { action, teamId, sandboxId: givenId, actor, until }: JobItemRequest): Promise<ItemOutcome> {
  const { db } = parts.database
  // Read for each item: the team may be blocked meanwhile.
  const team = await findTeam(db, teamId)
  if (team === undefined) return { status: 'failed', message: 'The team is gone' }
  if (team.isBanned) throw teamBanned()
  if (team.isBlocked && action !== 'kill') throw teamBlocked(team.blockedReason)
  const row = await findSandbox(db, teamId, givenId)
  if (row === undefined) return skipped('It has ended')
  switch (action) {
    case 'kill':
      await killSandbox(parts, teamId, { givenId, actor })
      return DONE
    case 'pause':
      if (row.state === 'paused') return skipped('It is paused')
      await pauseSandbox(parts, teamId, { givenId, keep: 'memory', isStrict: false, actor })
      return DONE
    case 'resume':
      if (row.state === 'running') return skipped('It runs')
      await connectSandbox(parts, team, { givenId, seconds: RESUME_SECONDS, keep: 'memory', actor })
      return DONE
    case 'extend': {
      if (row.state !== 'running' || until === undefined) return skipped('It does not run')
      const seconds = Math.max(1, Math.round((until.getTime() - Date.now()) / 1000))
      await setEndTime(parts, team, { givenId, seconds, rule: 'extend', actor })
      return DONE
    }
  }
}
