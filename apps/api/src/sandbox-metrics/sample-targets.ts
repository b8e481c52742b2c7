import type { Db } from '@sandyard/db/database'
import type { Secret } from '@sandyard/kit/config/secret'
import { selectLogTargets, toLogTarget, type LogTarget } from '../sandbox-logs/log-target.ts'

/** A running sandbox that is to be sampled. */
export interface SampleTarget extends LogTarget {
  readonly diskBytes: number
  readonly incarnation: number
}

const PAGE = 1000
const MIB = 1024 ** 2

/** Every running sandbox, read page by page. */
export async function listSampleTargets(db: Db, tokenSeed: Secret): Promise<SampleTarget[]> {
  const targets: SampleTarget[] = []
  let after = ''
  while (true) {
    const page = await selectPage(db, after)
    targets.push(...page.map((row) => ({ ...toLogTarget(row, tokenSeed), diskBytes: row.disk_mib * MIB, incarnation: row.incarnation })))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return targets
    after = last.sandbox_id
  }
}

function selectPage(db: Db, after: string) {
  return selectLogTargets(db)
    .innerJoin('build', 'build.build_id', 'sandbox.build_id')
    .select(['disk_mib', 'sandbox.incarnation'])
    .where('sandbox.state', '=', 'running')
    .where('sandbox.sandbox_id', '>', after)
    .orderBy('sandbox.sandbox_id')
    .limit(PAGE)
    .execute()
}
