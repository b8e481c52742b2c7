import { sql, type ExpressionBuilder } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { READY_BUILD_STATUSES } from '@sandyard/db/schema/build'
import type { Tables } from '@sandyard/db/schema/tables'
import { lastSpawnedAt, spawnCount } from './spawn-counts.ts'
import { DEFAULT_TAG } from './template-reference.ts'

/**
 * Templates with their names, their creator and their builds, in one query: the ready build of the default tag (`ready_`), the newest build
 * of that tag (`latest_`), and the newest build of any (`newest_`). Excludes deleted templates.
 */
export function selectTemplateRows(db: Db) {
  return db
    .selectFrom('template')
    .leftJoin('app_user', 'app_user.id', 'template.created_by')
    .leftJoinLateral(
      (eb) => defaultBuilds(eb).where('build.status', 'in', READY_BUILD_STATUSES).as('ready'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) => defaultBuilds(eb).as('latest'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) => newestBuild(eb).as('newest'),
      (join) => join.onTrue(),
    )
    .selectAll('template')
    .select([
      'app_user.id as user_id',
      'app_user.email as user_email',
      'ready.build_id as ready_build_id',
      'latest.status as latest_status',
    ])
    .select(({ fn }) => [
      fn.coalesce('ready.cpu_count', 'latest.cpu_count', 'newest.cpu_count').as('cpu_count'),
      fn.coalesce('ready.memory_mib', 'latest.memory_mib', 'newest.memory_mib').as('memory_mib'),
      fn.coalesce('ready.disk_mib', 'latest.disk_mib', 'newest.disk_mib').as('disk_mib'),
      'ready.envd_version',
    ])
    .select([selectNames.as('names'), spawnCount.as('spawn_count'), lastSpawnedAt.as('last_spawned_at')])
    .where('template.deleted_at', 'is', null)
}

export type TemplateRow = Awaited<ReturnType<ReturnType<typeof selectTemplateRows>['executeTakeFirstOrThrow']>>

/** The names of `template`, oldest first (control-plane.md 2.6). */
const selectNames = sql<string[]>`array(
  select concat_ws('/', named.namespace, named.alias) from template_alias as named
  where named.template_id = template.template_id order by named.created_at, named.namespace nulls first, named.alias
)`

/** The names of one template in the form of all answers (control-plane.md 2.6). */
export async function listNames(db: Db, templateId: string): Promise<string[]> {
  const row = await db.selectFrom('template').select(selectNames.as('names')).where('template_id', '=', templateId).executeTakeFirst()
  return row?.names ?? []
}

/** The deprecated form of names: without namespaces and duplicates. */
export function toAliases(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.slice(name.indexOf('/') + 1)))]
}

type FromTemplate = ExpressionBuilder<Tables, 'template'>

/** The newest assignment of the default tag. */
function defaultBuilds(eb: FromTemplate) {
  return eb
    .selectFrom('tag_assignment')
    .innerJoin('build', 'build.build_id', 'tag_assignment.build_id')
    .select(['build.build_id', 'build.status', 'build.cpu_count', 'build.memory_mib', 'build.disk_mib', 'build.envd_version'])
    .whereRef('tag_assignment.template_id', '=', 'template.template_id')
    .where('tag_assignment.tag', '=', DEFAULT_TAG)
    .orderBy('tag_assignment.created_at', 'desc')
    .limit(1)
}

function newestBuild(eb: FromTemplate) {
  return eb
    .selectFrom('build')
    .select(['build.cpu_count', 'build.memory_mib', 'build.disk_mib'])
    .whereRef('build.template_id', '=', 'template.template_id')
    .orderBy('build.created_at', 'desc')
    .limit(1)
}
