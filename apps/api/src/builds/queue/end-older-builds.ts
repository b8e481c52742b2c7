import type { Tx } from '@sandyard/db/database'
import { FAILURES } from '../build-failure.ts'
import { cancelBuild } from './cancel-build.ts'

export interface OlderBuilds {
  readonly templateId: string
  /** Selects builds that ever had one of these tags. */
  readonly tags: readonly string[]
}

/**
 * Ends builds of a template that a newer one supersedes: those that were registered and never started (control-plane.md 10.3, semantics 3),
 * and with `alsoInProgress` those in progress (10.5).
 *
 * The caller holds the lock of the team and no lock of the template's row. To avoid deadlocks, all code that ends builds locks jobs, then
 * builds, then templates: all jobs and builds are locked before the first template.
 */
export async function endOlderBuilds(tx: Tx, older: OlderBuilds, { alsoInProgress }: { readonly alsoInProgress: boolean }): Promise<void> {
  const inProgress = alsoInProgress ? await lockInProgress(tx, older) : []
  const waiting = await lockWaiting(tx, older)
  for (const buildId of inProgress) await cancelBuild(tx, buildId, FAILURES.cancelled)
  for (const buildId of waiting) await cancelBuild(tx, buildId, FAILURES.superseded)
}

/** Ends the builds in progress for one of the tags, except `except`. The caller holds the same locks as for `endOlderBuilds`. */
export async function cancelInProgress(tx: Tx, older: OlderBuilds, { except }: { readonly except: string }): Promise<void> {
  const buildIds = await lockInProgress(tx, older)
  for (const buildId of buildIds) if (buildId !== except) await cancelBuild(tx, buildId, FAILURES.cancelled)
}

async function lockInProgress(tx: Tx, older: OlderBuilds): Promise<string[]> {
  const rows = await tx
    .selectFrom('build_job')
    .select('build_id')
    .where('build_id', 'in', taggedBuilds(tx, older))
    .orderBy('build_id')
    .forUpdate()
    .execute()
  return rows.map(({ build_id }) => build_id)
}

async function lockWaiting(tx: Tx, older: OlderBuilds): Promise<string[]> {
  const rows = await tx
    .selectFrom('build')
    .select('build_id')
    .where('status', 'in', ['pending', 'waiting'])
    .where('build_id', 'in', taggedBuilds(tx, older))
    .orderBy('build_id')
    .forUpdate()
    .execute()
  return rows.map(({ build_id }) => build_id)
}

function taggedBuilds(tx: Tx, { templateId, tags }: OlderBuilds) {
  return tx
    .selectFrom('tag_assignment')
    .select('build_id')
    .where('template_id', '=', templateId)
    .where('tag', 'in', [...tags])
}
