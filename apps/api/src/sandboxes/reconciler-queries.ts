import type { Db } from '@sandyard/db/database'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { SandboxRef } from '@sandyard/runtime/types'
import { keyOf } from './repairs.ts'

const PAGE = 1000

/** Every sandbox with a row in state `running`, read page by page. */
export async function listRunning(db: Db): Promise<SandboxRef[]> {
  const refs: SandboxRef[] = []
  let after = ''
  while (true) {
    const page = await db
      .selectFrom('sandbox')
      .select(['sandbox_id', 'incarnation'])
      .where('state', '=', 'running')
      .where('sandbox_id', '>', after)
      .orderBy('sandbox_id')
      .limit(PAGE)
      .execute()
    refs.push(...page.map((row) => ({ sandboxId: row.sandbox_id, incarnation: row.incarnation })))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return refs
    after = last.sandbox_id
  }
}

/** The refs that have a row with the same incarnation, in one of the states if any are given. */
export async function ownedOf(db: Db, refs: readonly SandboxRef[], states?: readonly SandboxState[]): Promise<ReadonlySet<string>> {
  const owned = new Set<string>()
  for (let at = 0; at < refs.length; at += PAGE) {
    const ids = refs.slice(at, at + PAGE).map(({ sandboxId }) => sandboxId)
    let query = db.selectFrom('sandbox').select(['sandbox_id', 'incarnation']).where('sandbox_id', 'in', ids)
    if (states !== undefined) query = query.where('state', 'in', states)
    for (const row of await query.execute()) owned.add(keyOf({ sandboxId: row.sandbox_id, incarnation: row.incarnation }))
  }
  return owned
}
