import type { Db } from '@sandyard/db/database'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { Keep, SandboxRef } from '@sandyard/runtime/types'
import { refOf } from '../lifecycle/lifecycle-parts.ts'
import { parkedOf } from '../../warm-pool/parked-rows.ts'
import { keyOf } from './repairs.ts'

const PAGE = 1000

/** A sandbox that should exist on the engine. */
export interface SettledRow extends SandboxRef {
  readonly state: 'running' | 'paused'
  readonly keep: Keep | null
  /** When its run began. A resume begins another one. */
  readonly runSince: Date | null
}

/** Every sandbox that runs or is paused, read page by page. */
export async function listSettled(db: Db): Promise<SettledRow[]> {
  const found: SettledRow[] = []
  let after = ''
  while (true) {
    const page = await db
      .selectFrom('sandbox')
      .select(['sandbox_id', 'incarnation', 'state', 'pause_keep', 'started_at'])
      .where('state', 'in', ['running', 'paused'])
      .where('sandbox_id', '>', after)
      .orderBy('sandbox_id')
      .limit(PAGE)
      .$narrowType<{ state: 'running' | 'paused' }>()
      .execute()
    found.push(...page.map((row) => ({ ...refOf(row), state: row.state, keep: row.pause_keep, runSince: row.started_at })))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return found
    after = last.sandbox_id
  }
}

/** The refs that have a row, in the warm pool or as a sandbox. */
export async function knownOf(db: Db, refs: readonly SandboxRef[]): Promise<ReadonlySet<string>> {
  const known = new Set<string>()
  // The pool comes first: a claim moves a row from there to the sandboxes.
  for (let at = 0; at < refs.length; at += PAGE) {
    const ids = refs.slice(at, at + PAGE).map(({ sandboxId }) => sandboxId)
    for (const ref of await parkedOf(db, ids)) known.add(keyOf(ref))
  }
  for (const key of (await ownedOf(db, refs)).keys()) known.add(key)
  return known
}

/** The refs that have a row with the same incarnation, in one of the states if any are given, and when their runs began. */
export async function ownedOf(
  db: Db,
  refs: readonly SandboxRef[],
  states?: readonly SandboxState[],
): Promise<ReadonlyMap<string, Date | null>> {
  const owned = new Map<string, Date | null>()
  for (let at = 0; at < refs.length; at += PAGE) {
    const ids = refs.slice(at, at + PAGE).map(({ sandboxId }) => sandboxId)
    let query = db.selectFrom('sandbox').select(['sandbox_id', 'incarnation', 'started_at']).where('sandbox_id', 'in', ids)
    if (states !== undefined) query = query.where('state', 'in', states)
    for (const row of await query.execute()) owned.set(keyOf(refOf(row)), row.started_at)
  }
  return owned
}
