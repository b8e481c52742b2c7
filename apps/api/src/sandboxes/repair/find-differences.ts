import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { RuntimeSandbox, RuntimeState, SandboxRef } from '@sandyard/runtime/types'
import { assertEngineOf, readEngineId } from '../../servers/engine-binding.ts'
import { listWaiting } from '../../warm-pool/parked-rows.ts'
import { isBuildSandboxId } from '../sandbox-id.ts'
import { STALE_START_SECONDS } from '../sandbox-queries.ts'
import { knownOf, listSettled, type SettledRow } from './reconciler-queries.ts'
import { keyOf } from './repairs.ts'

const LIST_TIMEOUT_MS = 30_000
/** Up to this many sandboxes are removed without a second check. */
const FEW = 3
const MANY_SHARE = 0.2
const SECOND_LOOK_MS = 5000

export interface DifferenceParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly log: Logger
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
 * The differences between rows and sandboxes. Many differences are checked twice: an engine that has just started may list too few
 * sandboxes. The check also fails if the engine or the database was replaced.
 */
export async function findDifferences(parts: DifferenceParts, signal?: AbortSignal): Promise<Differences> {
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
async function compare({ database, runtime }: Pick<DifferenceParts, 'database' | 'runtime'>): Promise<Differences> {
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
