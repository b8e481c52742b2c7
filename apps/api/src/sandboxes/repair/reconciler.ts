import { setTimeout as delay } from 'node:timers/promises'
import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import type { Tables } from '@sandyard/db/schema/tables'
import { isServerAlive } from '@sandyard/db/server-lease'
import { secondsAgo } from '@sandyard/db/statement-time'
import { within } from '@sandyard/kit/async/within'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { RuntimeSandbox, RuntimeState, SandboxRef } from '@sandyard/runtime/types'
import { SERVER } from '../../events/actor.ts'
import { assertEngineOf, readEngineId } from '../../servers/engine-binding.ts'
import { applyEgress, listPendingEgress } from '../network/apply-egress.ts'
import { isBuildSandboxId } from '../sandbox-id.ts'
import { beginEnd, finishEnd, killing, REMOVE_TIMEOUT_MS, type EndParts } from '../end/end-sandbox.ts'
import { pauseAgain } from '../lifecycle/pause-again.ts'
import type { InFlight } from '../lifecycle/in-flight.ts'
import { refOf } from '../lifecycle/lifecycle-parts.ts'
import { pausing } from '../lifecycle/pause-steps.ts'
import { settle, type SettleParts } from '../lifecycle/settle-sandbox.ts'
import { keyOf, type Repairs } from './repairs.ts'
import type { WarmPool } from '../../warm-pool/warm-pool.ts'
import { listWaiting } from '../../warm-pool/parked-rows.ts'
import { knownOf, listSettled, type SettledRow } from './reconciler-queries.ts'
import { STALE_START_SECONDS } from '../sandbox-queries.ts'
import { changeState } from '../sandbox-state.ts'

export const RECONCILE_EVERY_MS = 10_000

/** Ages at which a row of this server is not one that it is just beginning. A start that is given up is not taken back, so it has more time. */
const LEFT_TRANSITION_SECONDS = 3
const LEFT_START_SECONDS = 30
/** Longer than a pause, a resume and a snapshot may take. */
const STALE_TRANSITION_SECONDS = 150

const LIST_TIMEOUT_MS = 30_000
/** Another request or server may still run a removal that is younger: a second one would be wasted work. */
const STALE_KILL_SECONDS = 5
/** Cap of abandoned starts and ends in one pass. */
const ABANDONED_AT_ONCE = 1000

/** Up to this many sandboxes are removed without a second check. */
const FEW = 3
const MANY_SHARE = 0.2
const SECOND_LOOK_MS = 5000

export interface ReconcilerParts extends EndParts, SettleParts {
  readonly repairs: Repairs
  readonly pool: Pick<WarmPool, 'lost'>
  /** The engine that the database belongs to. */
  readonly engineId: string
  /** Default: 5 s. */
  readonly secondLookMs?: number
}

interface Differences {
  /** Rows whose sandbox has ended, or for paused ones is absent. */
  readonly lost: readonly SettledRow[]
  /** Rows in state `running` whose sandbox something else has frozen. */
  readonly frozen: readonly SettledRow[]
  /** Rows that are paused although their sandbox runs: something else has thawed it. */
  readonly thawed: readonly SettledRow[]
  /** Rows that are paused with memory, and whose processes have ended. */
  readonly withoutMemory: readonly SettledRow[]
  /** Sandboxes without a row. */
  readonly orphans: readonly SandboxRef[]
  /** Rows of the warm pool whose sandbox does not run. */
  readonly endedParked: readonly SandboxRef[]
  readonly rowCount: number
  readonly sandboxCount: number
}

/**
 * Repairs differences between rows and sandboxes after a killed server, a lost answer or an engine restart. Any number of servers may run
 * it at once. Repairs continue in the background after the return.
 *
 * @throws AppError when the engine does not answer or is not the one of this database; then nothing is removed
 */
export async function reconcile(parts: ReconcilerParts, signal?: AbortSignal): Promise<void> {
  await assertEngineOf(parts.database.db, parts.engineId)
  await finishAbandoned(parts)
  const { lost, frozen, thawed, withoutMemory, orphans, endedParked } = await findDifferences(parts, signal)
  await parts.pool.lost(endedParked)
  for (const { sandboxId, incarnation, state, runSince } of lost) {
    const ref = { sandboxId, incarnation }
    void parts.repairs.run(ref, async () => {
      const reason = await parts.endReasons.reasonOf(ref)
      parts.log.warn({ ...ref, reason }, 'sandbox is lost')
      // A repair may wait for others: the sandbox may have been paused when it was listed, and resumed since.
      if (await beginEnd(parts.database, ref, { ...killing(reason, SERVER, state), runSince })) await finishEnd(parts, ref)
    })
  }
  for (const ref of frozen) void parts.repairs.run(ref, () => thawFrozen(parts, ref))
  for (const row of thawed) void parts.repairs.run(row, () => pauseAgain(parts, row, { keep: row.keep ?? 'files', reason: 'thawed' }))
  for (const ref of withoutMemory) void parts.repairs.run(ref, () => pauseAgain(parts, ref, { keep: 'files', reason: 'engine_restarted' }))
  for (const ref of orphans) {
    parts.log.warn({ ...ref }, 'removing a sandbox without a row')
    void parts.repairs.run(ref, () =>
      within({ what: 'the removal of the sandbox', timeoutMs: REMOVE_TIMEOUT_MS }, () => parts.runtime.remove(ref)),
    )
  }
}

/** Ends starts that take too long or whose server is dead, finishes ends and network updates that were not completed, and settles abandoned transitions. */
async function finishAbandoned(parts: ReconcilerParts): Promise<void> {
  for (const { ref, run } of parts.inFlight.takeUndos()) void parts.repairs.runNext(ref, run)
  for (const ref of await takeOverTransitions(parts)) {
    parts.log.info({ ...ref }, 'settling an abandoned transition')
    void parts.repairs.run(ref, () => settleHeld(parts, ref))
  }
  for (const ref of await listPendingEgress(parts.database.db)) {
    void parts.repairs.run(ref, () => {
      parts.log.info({ ...ref }, 'putting a network in force that an update left')
      return applyEgress(parts, ref)
    })
  }
  for (const ref of [...(await giveUpStarts(parts)), ...(await listStaleEnds(parts.database.db))]) {
    void parts.repairs.run(ref, () => {
      parts.log.info({ ...ref }, 'finishing an abandoned sandbox')
      return finishEnd(parts, ref)
    })
  }
}

/** A row of this server that says that it works at the sandbox, while it does not. */
function isLeft(
  eb: ExpressionBuilder<Tables, 'sandbox'>,
  serverId: number,
  { inFlight, afterSeconds }: { readonly inFlight: InFlight; readonly afterSeconds: number },
): Expression<SqlBool> {
  const held = inFlight.ids()
  return eb.and([
    eb('server_id', '=', serverId),
    eb('state_changed_at', '<', secondsAgo(afterSeconds)),
    ...(held.length > 0 ? [eb('sandbox_id', 'not in', held)] : []),
  ])
}

/** Locks the rows, so that a start that succeeds at this moment is kept. */
async function giveUpStarts({ database, serverId, inFlight }: ReconcilerParts): Promise<SandboxRef[]> {
  return database.transaction(async (tx) => {
    const rows = await tx
      .selectFrom('sandbox')
      .select(['sandbox_id', 'incarnation'])
      .where('state', '=', 'starting')
      .where((eb) =>
        eb.or([
          eb('state_changed_at', '<', secondsAgo(STALE_START_SECONDS)),
          eb.not(isServerAlive(sql.ref('sandbox.server_id'))),
          isLeft(eb, serverId, { inFlight, afterSeconds: LEFT_START_SECONDS }),
        ]),
      )
      .orderBy('state_changed_at')
      .limit(ABANDONED_AT_ONCE)
      .forUpdate()
      .skipLocked()
      .execute()
    const refs = rows.map(refOf)
    for (const ref of refs) await changeState(tx, ref, killing('create_abandoned', SERVER))
    return refs
  })
}

/** Each of them is taken over by one server: those of dead ones, those that take too long, and those that this one does not work at. */
async function takeOverTransitions({ database, serverId, inFlight }: ReconcilerParts): Promise<SandboxRef[]> {
  const rows = await database.db
    .updateTable('sandbox')
    .set({ server_id: serverId, state_changed_at: sql<Date>`clock_timestamp()` })
    .where('sandbox_id', 'in', (eb) =>
      eb
        .selectFrom('sandbox')
        .select('sandbox_id')
        .where('state', 'in', ['pausing', 'resuming', 'snapshotting'])
        .where((or) =>
          or.or([
            or('state_changed_at', '<', secondsAgo(STALE_TRANSITION_SECONDS)),
            or.not(isServerAlive(sql.ref('sandbox.server_id'))),
            isLeft(or, serverId, { inFlight, afterSeconds: LEFT_TRANSITION_SECONDS }),
          ]),
        )
        .orderBy('state_changed_at')
        .limit(ABANDONED_AT_ONCE)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['sandbox_id', 'incarnation'])
    .execute()
  return rows.map(refOf)
}

/** A request of this server may have begun another transition since the row was taken over. */
async function settleHeld(parts: ReconcilerParts, ref: SandboxRef): Promise<void> {
  if (parts.inFlight.has(ref)) return
  using _held = parts.inFlight.hold(ref)
  await settle(parts, ref)
}

/** Only this server's state changes freeze and thaw a running sandbox; the transition keeps others away. */
async function thawFrozen(parts: ReconcilerParts, ref: SandboxRef): Promise<void> {
  const wish = { keep: 'memory', actor: SERVER, isResponsive: true } as const
  using _held = parts.inFlight.hold(ref)
  if (await parts.database.transaction((tx) => changeState(tx, ref, pausing(wish, parts.serverId)))) await settle(parts, ref)
}

async function listStaleEnds(db: Db): Promise<SandboxRef[]> {
  const rows = await db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'incarnation'])
    .where('state', '=', 'killing')
    .where('state_changed_at', '<', secondsAgo(STALE_KILL_SECONDS))
    .orderBy('state_changed_at')
    .limit(ABANDONED_AT_ONCE)
    .execute()
  return rows.map(refOf)
}

/**
 * The differences between rows and sandboxes. Many differences are checked twice: an engine that has just started may list too few
 * sandboxes. The check also fails if the engine or the database was replaced.
 */
async function findDifferences(parts: ReconcilerParts, signal?: AbortSignal): Promise<Differences> {
  const first = await compare(parts)
  if (!isMany(first.lost, first.rowCount) && !isMany(first.orphans, first.sandboxCount)) return first
  const { secondLookMs = SECOND_LOOK_MS, log, runtime, engineId } = parts
  log.warn(
    { lost: first.lost.length, of: first.rowCount, orphans: first.orphans.length, secondLookMs },
    'many sandboxes differ: checking again',
  )
  await delay(secondLookMs, undefined, { signal })
  await assertEngineOf(parts.database.db, engineId)
  const answering = await readEngineId(runtime)
  if (answering !== engineId) throw new Error(`another engine answers (${answering}) than the one of this database (${engineId})`)
  const second = await compare(parts)
  const differences = { ...second, lost: both(first.lost, second.lost), orphans: both(first.orphans, second.orphans) }
  log.warn({ lost: differences.lost.length, orphans: differences.orphans.length }, 'checked the differing sandboxes again')
  return differences
}

/**
 * Rows are read before the engine is listed: a row without a sandbox in the list is lost. Rows are looked up again after the
 * list: a listed sandbox without a row is an orphan, because the row is written first. Young sandboxes are kept anyway.
 */
async function compare({ database, runtime }: { readonly database: Database; readonly runtime: SandboxRuntime }): Promise<Differences> {
  const rows = await listSettled(database.db)
  const waiting = await listWaiting(database.db)
  const sandboxes = await within({ what: 'the list of sandboxes', timeoutMs: LIST_TIMEOUT_MS }, () => runtime.list())
  const states = new Map(sandboxes.map((sandbox) => [keyOf(sandbox), sandbox.state]))
  const isIn = (row: SettledRow, state: RuntimeState): boolean => states.get(keyOf(row)) === state
  const lost = rows.filter((row) => !states.has(keyOf(row)) || (row.state === 'running' && isIn(row, 'stopped')))
  const frozen = rows.filter((row) => row.state === 'running' && isIn(row, 'frozen'))
  const thawed = rows.filter((row) => row.state === 'paused' && isIn(row, 'running'))
  const withoutMemory = rows.filter((row) => row.state === 'paused' && row.keep === 'memory' && isIn(row, 'stopped'))
  const old = sandboxes.filter((sandbox) => !isBuildSandboxId(sandbox.sandboxId) && !isYoung(sandbox))
  const known = await knownOf(database.db, old)
  const orphans = old.filter((sandbox) => !known.has(keyOf(sandbox))).map(({ sandboxId, incarnation }) => ({ sandboxId, incarnation }))
  const endedParked = waiting.filter((ref) => states.get(keyOf(ref)) !== 'running')
  return { lost, frozen, thawed, withoutMemory, orphans, endedParked, rowCount: rows.length, sandboxCount: sandboxes.length }
}

function isYoung({ createdAt }: RuntimeSandbox): boolean {
  return createdAt.getTime() > Date.now() - STALE_START_SECONDS * 1000
}

function isMany(part: readonly SandboxRef[], count: number): boolean {
  return part.length > FEW && part.length > count * MANY_SHARE
}

function both<T extends SandboxRef>(first: readonly T[], second: readonly T[]): T[] {
  const keys = new Set(first.map(keyOf))
  return second.filter((ref) => keys.has(keyOf(ref)))
}
