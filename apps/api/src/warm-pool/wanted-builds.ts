import type { Db } from '@sandyard/db/database'
import { findReadyBuild } from '../templates/resolve-template.ts'
import { findTemplateByAlias, findTemplateById } from '../templates/template-queries.ts'
import { DEFAULT_TAG } from '../templates/template-reference.ts'
import { readDemand } from './demand.ts'
import type { WantedBuild } from './plan-pool.ts'

/** The template of which one sandbox waits always. */
const BASE = 'base'
/** Templates with sandboxes in the pool. */
const MOST = 32

/** The builds of which sandboxes should wait: that of `base`, then those that were created most in the last minutes. */
export async function readWantedBuilds(db: Db): Promise<WantedBuild[]> {
  const demand = await readDemand(db, MOST)
  const wanted: WantedBuild[] = []
  const base = await findTemplateByAlias(db, BASE, null)
  if (base !== undefined) demand.push({ templateId: base.templateId, tag: DEFAULT_TAG, peak: 1 })
  for (const { templateId, tag, peak } of demand) {
    // Its template may have been deleted, and the tag may be on another build by now.
    const build = (await findTemplateById(db, templateId)) && (await findReadyBuild(db, templateId, tag))
    if (build !== undefined) wanted.push({ templateId, build, count: peak })
  }
  return wanted
}
