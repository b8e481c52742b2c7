import pLimit from 'p-limit'
import type { Db } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { killSandbox } from '../sandboxes/lifecycle/kill-sandbox.ts'
import type { LifecycleParts } from '../sandboxes/lifecycle/lifecycle-parts.ts'
import { RUNNING_STATES } from '../sandboxes/running-states.ts'

const PAGE = 100
const KILLS_AT_ONCE = 8

export interface KillCounts {
  readonly killed: number
  readonly failed: number
}

/** Kills the running sandboxes of a team. Those that another request kills meanwhile are not counted; those that are not killed in time have failed. */
export async function killTeamSandboxes(parts: LifecycleParts, teamId: string, timeoutMs: number): Promise<KillCounts> {
  const until = performance.now() + timeoutMs
  const limit = pLimit(KILLS_AT_ONCE)
  const counts = { killed: 0, failed: 0, gone: 0 }
  for (let after = ''; ;) {
    const ids = await listRunning(parts.database.db, teamId, after)
    const outcomes = await Promise.all(ids.map((id) => limit(() => kill(parts, { teamId, givenId: id }, until - performance.now()))))
    for (const outcome of outcomes) counts[outcome] += 1
    const last = ids.at(-1)
    if (last === undefined || ids.length < PAGE) return counts
    after = last
  }
}

async function kill(
  parts: LifecycleParts,
  { teamId, givenId }: { readonly teamId: string; readonly givenId: string },
  timeoutMs: number,
): Promise<'killed' | 'failed' | 'gone'> {
  if (timeoutMs <= 0) return 'failed'
  try {
    await within({ what: 'the kill of a sandbox', timeoutMs }, () => killSandbox(parts, teamId, { givenId, actor: { kind: 'admin' } }))
    return 'killed'
  } catch (err) {
    if (isAppError(err, 'not_found')) return 'gone'
    parts.log.warn({ err, sandboxId: givenId, teamId }, 'a sandbox of a team could not be killed')
    return 'failed'
  }
}

async function listRunning(db: Db, teamId: string, after: string): Promise<string[]> {
  const rows = await db
    .selectFrom('sandbox')
    .select('sandbox_id')
    .where('team_id', '=', teamId)
    .where('state', 'in', RUNNING_STATES)
    .where('sandbox_id', '>', after)
    .orderBy('sandbox_id')
    .limit(PAGE)
    .execute()
  return rows.map(({ sandbox_id: id }) => id)
}
