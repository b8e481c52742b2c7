import type { Db } from '@sandyard/db/database'
import { DEFAULT_EGRESS, type EgressPolicy } from '@sandyard/runtime/types'
import { isBuildSandboxId } from '../sandbox-id.ts'
import { toEgressPolicy } from './to-egress-policy.ts'
import { parkedOf } from '../../warm-pool/parked-rows.ts'

/** Ids in one query. */
const PAGE = 1000

/**
 * The wanted egress of sandboxes, for the repairs of the runtime. The sandbox of a build in progress and one of the warm pool have the default.
 * Those that have neither a row nor a build are left out.
 */
export async function readWantedEgress(db: Db, sandboxIds: readonly string[]): Promise<Map<string, EgressPolicy>> {
  const wanted = new Map<string, EgressPolicy>()
  const builds = sandboxIds.filter(isBuildSandboxId)
  const sandboxes = sandboxIds.filter((id) => !isBuildSandboxId(id))
  for (const ids of pagesOf(sandboxes)) {
    // Before the rows of sandboxes: a claim moves a row from here to there.
    for (const { sandboxId } of await parkedOf(db, ids)) wanted.set(sandboxId, DEFAULT_EGRESS)
    const rows = await db
      .selectFrom('sandbox')
      .select(['sandbox_id', 'network', 'allow_internet_access'])
      .where('sandbox_id', 'in', ids)
      .execute()
    for (const row of rows) wanted.set(row.sandbox_id, toEgressPolicy(row.network, row.allow_internet_access))
  }
  for (const ids of pagesOf(builds)) {
    const jobs = await db
      .selectFrom('build_job')
      .select('sandbox_id')
      .where('sandbox_id', 'in', ids)
      .where('server_id', 'is not', null)
      .execute()
    for (const { sandbox_id } of jobs) if (sandbox_id !== null) wanted.set(sandbox_id, DEFAULT_EGRESS)
  }
  return wanted
}

function pagesOf(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, page) => ids.slice(page * PAGE, (page + 1) * PAGE))
}
