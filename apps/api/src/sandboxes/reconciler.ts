import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import { isServerAlive } from '@sandyard/db/server-lease'
import { within } from '@sandyard/kit/async/within'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { RuntimeSandbox, SandboxRef } from '@sandyard/runtime/types'
import { SERVER } from '../events/actor.ts'
import { assertEngineOf, readEngineId } from '../servers/engine-binding.ts'
import { isBuildSandboxId } from './sandbox-id.ts'
import { beginEnd, finishEnd, killing, REMOVE_TIMEOUT_MS, type EndParts } from './end-sandbox.ts'
import { keyOf, type Repairs } from './repairs.ts'
import { listRunning, ownedOf } from './reconciler-queries.ts'
import { STALE_START_SECONDS } from './sandbox-queries.ts'
import { changeState } from './sandbox-state.ts'

export const RECONCILE_EVERY_MS = 10_000

const LIST_TIMEOUT_MS = 30_000
/** Another request or server may still run a removal that is younger: a second one would be wasted work. */
const STALE_KILL_SECONDS = 5
/** Cap of abandoned starts and ends in one pass. */
const ABANDONED_AT_ONCE = 1000

/** Up to this many sandboxes are removed without a second check. */
const FEW = 3
const MANY_SHARE = 0.2
const SECOND_LOOK_MS = 5000

export interface ReconcilerParts extends EndParts {
  readonly repairs: Repairs
  /** The engine that the database belongs to. */
  readonly engineId: string
  readonly log: Logger
  /** Default: 5 s. */
  readonly secondLookMs?: number
}

interface Differences {
  /** Rows in state `running` without a sandbox. */
  readonly lost: readonly SandboxRef[]
  /** Sandboxes without a row. */
  readonly orphans: readonly SandboxRef[]
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
  const { lost, orphans } = await findDifferences(parts, signal)
  for (const ref of lost) {
    parts.log.warn({ ...ref }, 'sandbox is lost')
    void parts.repairs.run(ref, async () => {
      await beginEnd(parts.database, ref, 'lost', SERVER)
      await finishEnd(parts, ref)
    })
  }
  for (const ref of orphans) {
    parts.log.warn({ ...ref }, 'removing a sandbox without a row')
    void parts.repairs.run(ref, () =>
      within({ what: 'the removal of the sandbox', timeoutMs: REMOVE_TIMEOUT_MS }, () => parts.runtime.remove(ref)),
    )
  }
}

/** Ends starts that take too long or whose server is dead, and finishes ends that were not completed. */
async function finishAbandoned(parts: ReconcilerParts): Promise<void> {
  for (const ref of [...(await giveUpStarts(parts.database)), ...(await listStaleEnds(parts.database.db))]) {
    void parts.repairs.run(ref, () => {
      parts.log.info({ ...ref }, 'finishing an abandoned sandbox')
      return finishEnd(parts, ref)
    })
  }
}

/** Locks the rows, so that a start that succeeds at this moment is kept. */
async function giveUpStarts(database: Database): Promise<SandboxRef[]> {
  return database.transaction(async (tx) => {
    const rows = await tx
      .selectFrom('sandbox')
      .select(['sandbox_id', 'incarnation'])
      .where('state', '=', 'starting')
      .where((eb) =>
        eb.or([eb('state_changed_at', '<', secondsAgo(STALE_START_SECONDS)), eb.not(isServerAlive(sql.ref('sandbox.server_id')))]),
      )
      .orderBy('state_changed_at')
      .limit(ABANDONED_AT_ONCE)
      .forUpdate()
      .skipLocked()
      .execute()
    const refs = rows.map(toRef)
    for (const ref of refs) await changeState(tx, ref, killing('create_abandoned', SERVER))
    return refs
  })
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
  return rows.map(toRef)
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
 * Rows are read before the engine is listed: a `running` row without a sandbox in the list is lost. Rows are looked up again after the
 * list: a listed sandbox without a row is an orphan, because the row is written first. Young sandboxes are kept anyway.
 */
async function compare({ database, runtime }: { readonly database: Database; readonly runtime: SandboxRuntime }): Promise<Differences> {
  const rows = await listRunning(database.db)
  const sandboxes = await within({ what: 'the list of sandboxes', timeoutMs: LIST_TIMEOUT_MS }, () => runtime.list())
  const alive = new Set(sandboxes.filter(({ state }) => state !== 'stopped').map(keyOf))
  const lost = rows.filter((row) => !alive.has(keyOf(row)))
  const old = sandboxes.filter((sandbox) => !isBuildSandboxId(sandbox.sandboxId) && !isYoung(sandbox))
  const owned = await ownedOf(database.db, old)
  const orphans = old.filter((sandbox) => !owned.has(keyOf(sandbox))).map(({ sandboxId, incarnation }) => ({ sandboxId, incarnation }))
  return { lost, orphans, rowCount: rows.length, sandboxCount: sandboxes.length }
}

function isYoung({ createdAt }: RuntimeSandbox): boolean {
  return createdAt.getTime() > Date.now() - STALE_START_SECONDS * 1000
}

function isMany(part: readonly SandboxRef[], count: number): boolean {
  return part.length > FEW && part.length > count * MANY_SHARE
}

function both(first: readonly SandboxRef[], second: readonly SandboxRef[]): SandboxRef[] {
  const keys = new Set(first.map(keyOf))
  return second.filter((ref) => keys.has(keyOf(ref)))
}

function toRef({ sandbox_id, incarnation }: { readonly sandbox_id: string; readonly incarnation: number }): SandboxRef {
  return { sandboxId: sandbox_id, incarnation }
}

function secondsAgo(seconds: number) {
  return sql<Date>`clock_timestamp() - make_interval(secs => ${seconds})`
}
