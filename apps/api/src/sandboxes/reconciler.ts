import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { isPresent } from '@sandyard/db/presence'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { RuntimeSandbox, SandboxRef } from '@sandyard/runtime/types'
import { isBuildSandboxId } from '../builds/build-sandbox-id.ts'
import { beginEnd, finishEnd, type EndParts, type EndReason } from './end-sandbox.ts'
import { forgetOldKeys } from './idempotency.ts'
import { STALE_START_SECONDS } from './sandbox-queries.ts'

export const RECONCILE_EVERY_MS = 10_000

/** A removal that another request or server is at is left to it for so long; doing it twice would only be work. */
const STALE_KILL_SECONDS = 5

/** A server that lost its connection for a moment is not gone yet. */
const GONE_SERVER_SECONDS = 5

export interface ReconcilerParts extends EndParts {
  readonly log: Logger
}

/**
 * Makes rows and sandboxes agree after anything that ended half-way: a killed server, a lost answer, an engine that restarted.
 * One pass may run on every server at once. What fails is logged and left to the next pass.
 */
export async function reconcile(parts: ReconcilerParts): Promise<void> {
  const { database, runtime } = parts
  await finishAbandoned(parts)
  // A row that said `running` before the engine was asked, and is not there then, has lost its sandbox. A sandbox that was
  // there before the rows were read, and has no row then, has no owner: its row would have been written first.
  const before = await listRows(database.db)
  const sandboxes = await runtime.list()
  const after = new Set((await listRows(database.db)).map(keyOf))
  await endLost(parts, before, sandboxes)
  await removeOrphans(parts, sandboxes, after)
  await forgetOldKeys(database.db)
}

type Row = SandboxRef & { readonly state: SandboxState }

async function listRows(db: Db): Promise<Row[]> {
  const rows = await db.selectFrom('sandbox').select(['sandbox_id', 'incarnation', 'state']).execute()
  return rows.map((row) => ({ sandboxId: row.sandbox_id, incarnation: row.incarnation, state: row.state }))
}

/** Starts that take too long or whose server is gone, and ends that were begun and not finished. */
async function finishAbandoned(parts: ReconcilerParts): Promise<void> {
  const rows = await parts.database.db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'incarnation', 'state'])
    .where((eb) =>
      eb.or([
        eb.and([eb('state', '=', 'starting'), eb('state_changed_at', '<', secondsAgo(STALE_START_SECONDS))]),
        eb.and([
          eb('state', '=', 'starting'),
          eb('state_changed_at', '<', secondsAgo(GONE_SERVER_SECONDS)),
          eb('server_id', 'is not', null),
          eb.not(isPresent(sql.ref('sandbox.server_id'))),
        ]),
        eb.and([eb('state', '=', 'killing'), eb('state_changed_at', '<', secondsAgo(STALE_KILL_SECONDS))]),
      ]),
    )
    .execute()
  for (const row of rows) {
    const ref = { sandboxId: row.sandbox_id, incarnation: row.incarnation }
    parts.log.info({ ...ref, state: row.state }, 'finishing an abandoned sandbox')
    await end(parts, ref, 'create_abandoned')
  }
}

/** Sandboxes that should run and do not: the engine restarted, or someone removed them. */
async function endLost(parts: ReconcilerParts, rows: readonly Row[], sandboxes: readonly RuntimeSandbox[]): Promise<void> {
  const alive = new Set(sandboxes.filter(({ state }) => state !== 'stopped').map(keyOf))
  for (const row of rows) {
    if (row.state !== 'running' || alive.has(keyOf(row))) continue
    parts.log.warn({ sandboxId: row.sandboxId, incarnation: row.incarnation }, 'sandbox is lost')
    await end(parts, row, 'lost')
  }
}

/** Sandboxes without a row, but those of builds, which never have one. A young one is left alone, though by the order of reading it has no owner either. */
async function removeOrphans(parts: ReconcilerParts, sandboxes: readonly RuntimeSandbox[], owned: ReadonlySet<string>): Promise<void> {
  for (const { sandboxId, incarnation, createdAt } of sandboxes) {
    const isYoung = createdAt.getTime() > Date.now() - STALE_START_SECONDS * 1000
    if (isBuildSandboxId(sandboxId) || isYoung || owned.has(keyOf({ sandboxId, incarnation }))) continue
    parts.log.warn({ sandboxId, incarnation }, 'removing a sandbox without a row')
    await attempt(parts, { sandboxId, incarnation }, () => parts.runtime.remove({ sandboxId, incarnation }))
  }
}

async function end(parts: ReconcilerParts, { sandboxId, incarnation }: SandboxRef, reason: EndReason): Promise<void> {
  const ref = { sandboxId, incarnation }
  await attempt(parts, ref, async () => {
    await beginEnd(parts.database, ref, reason)
    await finishEnd(parts, ref)
  })
}

/** Runs one repair; what fails is left to the next pass. */
export async function attempt({ log }: ReconcilerParts, ref: SandboxRef, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (err) {
    log.error({ err, ...ref }, 'sandbox could not be reconciled yet')
  }
}

function keyOf({ sandboxId, incarnation }: SandboxRef): string {
  return `${sandboxId}/${incarnation}`
}

function secondsAgo(seconds: number) {
  return sql<Date>`clock_timestamp() - make_interval(secs => ${seconds})`
}
