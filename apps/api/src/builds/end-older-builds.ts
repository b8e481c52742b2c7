import type { Tx } from '@sandyard/db/database'
import { FAILURES } from './build-failure.ts'
import { cancelBuild } from './queue/cancel-build.ts'

interface Scope {
  readonly templateId: string
  readonly tags: readonly string[]
}

/**
 * Ends the builds of a template that were registered for one of the tags and never started (control-plane.md 10.3, semantics 3). The
 * caller holds the lock of the team.
 */
export async function supersedeWaiting(tx: Tx, { templateId, tags }: Scope): Promise<void> {
  // All of them before the first changes: each change takes the template's row, which others take after the build's.
  const builds = await tx
    .selectFrom('build')
    .select('build_id')
    .where('template_id', '=', templateId)
    .where('status', 'in', ['pending', 'waiting'])
    .where('build_id', 'in', taggedBuilds(tx, { templateId, tags }))
    .orderBy('build_id')
    .forUpdate()
    .execute()
  for (const { build_id } of builds) await cancelBuild(tx, build_id, FAILURES.superseded)
}

/**
 * Ends the builds of a template that are in progress for one of the tags, but for `except` (control-plane.md 10.5). The caller holds
 * the lock of the team, and no lock of the template's row.
 */
export async function cancelInProgress(tx: Tx, scope: Scope & { readonly except?: string }): Promise<void> {
  const jobs = await tx
    .selectFrom('build_job')
    .innerJoin('build', 'build.build_id', 'build_job.build_id')
    .select('build_job.build_id')
    .where('build.template_id', '=', scope.templateId)
    .where('build_job.build_id', 'in', taggedBuilds(tx, scope))
    .$if(scope.except !== undefined, (query) => query.where('build_job.build_id', '<>', scope.except ?? ''))
    .orderBy('build_job.build_id')
    .forUpdate('build_job')
    .execute()
  for (const { build_id } of jobs) await cancelBuild(tx, build_id, FAILURES.cancelled)
}

/** The builds that were ever given one of the tags. */
function taggedBuilds(tx: Tx, { templateId, tags }: Scope) {
  return tx
    .selectFrom('tag_assignment')
    .select('build_id')
    .where('template_id', '=', templateId)
    .where('tag', 'in', [...tags])
}
