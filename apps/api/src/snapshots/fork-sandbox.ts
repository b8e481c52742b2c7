import pLimit from 'p-limit'
import { randomId } from '@sandyard/kit/ids/ids'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { httpStatus } from '@sandyard/kit/errors/http-status'
import type { RuntimeSnapshot } from '@sandyard/runtime/types'
import type { Actor } from '../events/actor.ts'
import type { Team } from '../teams/team.ts'
import { inProgress } from '../idempotency/idempotency-errors.ts'
import { RememberedAnswer, type IdempotentOperation } from '../idempotency/remembered-answer.ts'
import { limitsOf } from '../teams/team-limits.ts'
import { rateHeaders } from '../sandboxes/create/take-creates.ts'
import { checkLifetime } from '../sandboxes/check-lifetime.ts'
import type { LifecycleParts } from '../sandboxes/lifecycle/lifecycle-parts.ts'
import { loadSource } from '../sandboxes/lifecycle/load-source.ts'
import { isPublic } from '../sandboxes/network/stored-network.ts'
import type { SandboxRow } from '../sandboxes/sandbox-queries.ts'
import { startSandbox } from '../sandboxes/start/start-sandbox.ts'
import { capture } from './capture.ts'
import { repeatFork, type Forked, type RememberedFork } from './repeat-fork.ts'
import { reserveForks, type ReservedForks } from './reserve-forks.ts'
import { getSnapshotSource, inTransition } from './snapshot-source.ts'

export interface ForkWish {
  readonly givenId: string
  readonly count: number
  readonly lifetimeSeconds: number
  readonly actor: Actor
  readonly operation: IdempotentOperation
  /** Gets the headers of the answer that say what is left of the team's rate of creates, if it has one. */
  readonly onRate?: (headers: Readonly<Record<string, string>>) => void
}

/** Starts at once: each costs the engine much of a second. */
const STARTS_AT_ONCE = 4
const MAX_FORKS = 100
const NAME_LENGTH = 20

/**
 * Starts sandboxes from the files that a running sandbox has now; it stands still for a moment and runs on (control-plane.md 7.4). Each fork
 * succeeds or fails by itself. Forks have the metadata, network and lifecycle of the sandbox, and start commands of the template run anew.
 *
 * @returns one result for each fork, in order
 * @throws AppError with the texts of control-plane.md 7.4, before anything was started
 */
export async function forkSandbox(parts: LifecycleParts, team: Team, wish: ForkWish): Promise<Forked[]> {
  const { givenId, count, lifetimeSeconds, actor, operation } = wish
  const once =
    operation.idempotent && new RememberedAnswer<RememberedFork>({ ...operation, ...parts, ownerId: team.id }, operation.idempotent)
  const remembered = await once?.find(parts.database.db)
  if (remembered !== undefined) return repeatFork(parts.database.db, team.id, remembered)
  const { concurrentSandboxes: limit, maxLifetimeSeconds } = limitsOf(parts.limits, team.limits)
  if (count < 1) throw new AppError('invalid_argument', 'Count must be at least 1')
  if (count > MAX_FORKS) throw new AppError('invalid_argument', `Count cannot be greater than ${MAX_FORKS}`)
  if (count >= limit) {
    throw new AppError('invalid_argument', `Count must be lower than the maximum number of concurrent sandboxes (${limit})`)
  }
  checkLifetime(lifetimeSeconds, maxLifetimeSeconds)
  const row = await getSnapshotSource(parts, team.id, { givenId, doing: 'forked' })
  parts.placement.assertAccepts()
  const taken = await capture(parts, row, {
    name: `fork-${randomId(NAME_LENGTH)}`,
    actor,
    store: async (team, snapshot) => {
      const reserved = await reserveForks(team, { row, count, limits: parts.limits, serverId: parts.serverId, actor })
      const sandboxIds = reserved.refs.map(({ sandboxId }) => sandboxId)
      if (once !== undefined && !(await once.claim(team.tx))) throw inProgress()
      await once?.store(team.tx, { sandboxIds, refused: refusals(reserved, count) })
      const data = { forks: sandboxIds, kept: 'files' }
      return { result: { ...reserved, snapshot }, event: { kind: 'sandbox.forked', data } }
    },
  })
  if (taken === undefined) throw inTransition(await getSnapshotSource(parts, team.id, { givenId, doing: 'forked' }), 'forked')
  if (taken.rate !== undefined) wish.onRate?.(rateHeaders(taken.rate))
  try {
    return await startForks(parts, { ...taken, row, wish })
  } finally {
    // What cannot be deleted now is an image without a row, which the collector of images removes.
    const log = (err: unknown): void => parts.log.warn({ err }, 'the snapshot of a fork could not be deleted yet')
    await parts.runtime.deleteSnapshot(taken.snapshot).catch(log)
  }
}

interface ForkPlan extends Pick<ReservedForks, 'refs' | 'refusal'> {
  readonly snapshot: RuntimeSnapshot
  readonly row: SandboxRow
  readonly wish: ForkWish
}

async function startForks(parts: LifecycleParts, { refs, refusal, snapshot, row, wish }: ForkPlan): Promise<Forked[]> {
  const { lifetimeSeconds, actor, count } = wish
  const source = await loadSource(parts.database.db, row)
  const base = {
    ...source,
    teamId: row.team_id,
    build: { ...source.build, snapshot },
    alias: row.alias ?? undefined,
    isPublic: isPublic(row.network),
    envVars: {},
    lifetimeSeconds,
    actor,
  }
  const limit = pLimit(STARTS_AT_ONCE)
  // The last ones may wait longer for their turn than a start that nobody works at is left alone.
  using held = new DisposableStack()
  for (const ref of refs) held.use(parts.inFlight.hold(ref))
  const started = await Promise.all(
    refs.map((ref) =>
      limit(() =>
        startSandbox(parts, { ...base, ...ref, isRepeatable: false }).then(
          (answer): Forked => ({ answer }),
          (err: unknown): Forked => ({ error: toForkError(err) }),
        ),
      ),
    ),
  )
  return [...started, ...refusals({ refs, refusal }, count).map((error) => ({ error }))]
}

/** Why there are less forks than wanted, for each of the others. */
function refusals({ refs, refusal }: Pick<ReservedForks, 'refs' | 'refusal'>, count: number): RememberedFork['refused'] {
  const refused = toForkError(refusal)
  return Array.from({ length: count - refs.length }, () => refused)
}

function toForkError(err: unknown): { code: number; message: string } {
  return isAppError(err) ? { code: httpStatus(err.kind), message: err.message } : { code: 500, message: 'Error forking sandbox' }
}
