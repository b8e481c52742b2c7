import { sql, type RawBuilder } from 'kysely'
import type { Db, Tx } from '@sandyard/db/database'
import { keptPlan } from '@sandyard/db/kept-plan'
import { READY_BUILD_STATUSES } from '@sandyard/db/schema/build'
import type { RuntimeSnapshot } from '@sandyard/runtime/types'
import type { ReadyBuild, Template } from './template.ts'
import { DEFAULT_TAG, isTemplateId } from './template-reference.ts'

/** The sources that resolve by id (control-plane.md 2.3): internal snapshots do not. */
export const NAMED_SOURCES = ['template', 'snapshot_template'] as const

/** The template with this alias in the namespace; null is the namespace of promoted names. */
export async function findTemplateByAlias(db: Db, alias: string, namespace: string | null): Promise<Template | undefined> {
  const row = await selectTemplate(db)
    .innerJoin('template_alias', 'template_alias.template_id', 'template.template_id')
    .where('template_alias.alias', '=', alias)
    .where('template_alias.namespace', namespace === null ? 'is' : '=', namespace)
    .executeTakeFirst()
  return row && toTemplate(row)
}

/** The template with this alias in the namespace of a team or, if it has none, among the promoted names. */
export async function findTemplateOfTeam(db: Db, alias: string, namespace: string): Promise<Template | undefined> {
  const row = await selectTemplateOfTeam(db, alias, namespace).executeTakeFirst()
  return row && toTemplate(row)
}

export interface NamedBuild {
  readonly template: Template
  /** Undefined when no build of the tag is ready. */
  readonly build: ReadyBuild | undefined
}

/** `findTemplateOfTeam` and `findReadyBuildByTag` in one statement, for which every create waits. */
export async function findNamedBuild(
  db: Db,
  { alias, namespace, tag }: { readonly alias: string; readonly namespace: string; readonly tag: string | undefined },
): Promise<NamedBuild | undefined> {
  const tagged = selectTaggedBuild(db, sql.ref('template.template_id'), tag).as('tagged')
  const row = await selectTemplateOfTeam(db, alias, namespace)
    .leftJoinLateral(tagged, (join) => join.onTrue())
    .selectAll('tagged')
    .modifyEnd(keptPlan)
    .executeTakeFirst()
  return row && { template: toTemplate(row), build: isBuild(row) ? toReadyBuild(row) : undefined }
}

/** The id of the template with this alias in the namespace, in any state; null is the namespace of promoted names. */
export async function findAliasHolder(db: Db, alias: string, namespace: string | null): Promise<string | undefined> {
  const row = await db
    .selectFrom('template_alias')
    .select('template_id')
    .where('alias', '=', alias)
    .where('namespace', namespace === null ? 'is' : '=', namespace)
    .executeTakeFirst()
  return row?.template_id
}

/** Locks a template against its deletion until the end of the transaction. False when it was deleted. */
export async function lockTemplate(tx: Tx, templateId: string): Promise<boolean> {
  const present = await tx
    .selectFrom('template')
    .select('template_id')
    .where('template_id', '=', templateId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return present !== undefined
}

export async function findTemplateById(db: Db, templateId: string): Promise<Template | undefined> {
  if (!isTemplateId(templateId)) return undefined
  const row = await selectTemplate(db)
    .where('template.template_id', '=', templateId)
    .where('template.source', 'in', NAMED_SOURCES)
    .modifyEnd(keptPlan)
    .executeTakeFirst()
  return row && toTemplate(row)
}

/** A deleted template: its id stays reserved. */
export async function findDeletedTemplate(db: Db, templateId: string): Promise<Template | undefined> {
  const row = await db
    .selectFrom('template')
    .select(['template_id', 'team_id', 'is_public', 'source'])
    .where('template_id', '=', templateId)
    .where('deleted_at', 'is not', null)
    .where('source', 'in', NAMED_SOURCES)
    .executeTakeFirst()
  return row && toTemplate({ ...row, alias: null })
}

/** The newest assignment of the tag whose build is ready (control-plane.md 2.3). */
export async function findReadyBuildByTag(db: Db, templateId: string, tag?: string): Promise<ReadyBuild | undefined> {
  const row = await selectTaggedBuild(db, sql`${templateId}`, tag)
    .modifyEnd(keptPlan)
    .executeTakeFirst()
  return row && toReadyBuild(row)
}

export async function findReadyBuildById(db: Db, templateId: string, buildId: string): Promise<ReadyBuild | undefined> {
  const row = await selectReadyBuild(db)
    .where('build.template_id', '=', templateId)
    .where('build.build_id', '=', buildId)
    .executeTakeFirst()
  return row && toReadyBuild(row)
}

function selectTemplate(db: Db) {
  return db
    .selectFrom('template')
    .select(['template.template_id', 'template.team_id', 'template.is_public', 'template.source'])
    .select(
      sql<string | null>`(
        select first.alias from template_alias as first
        where first.template_id = template.template_id order by first.created_at, first.alias limit 1
      )`.as('alias'),
    )
    .where('template.deleted_at', 'is', null)
}

function selectTemplateOfTeam(db: Db, alias: string, namespace: string) {
  return selectTemplate(db)
    .innerJoin('template_alias', 'template_alias.template_id', 'template.template_id')
    .where('template_alias.alias', '=', alias)
    .where((eb) => eb.or([eb('template_alias.namespace', '=', namespace), eb('template_alias.namespace', 'is', null)]))
    .orderBy('template_alias.namespace', (order) => order.asc().nullsLast())
    .limit(1)
}

function selectTaggedBuild(db: Db, templateId: RawBuilder<string>, tag: string = DEFAULT_TAG) {
  return selectReadyBuild(db)
    .innerJoin('tag_assignment', 'tag_assignment.build_id', 'build.build_id')
    .where('tag_assignment.template_id', '=', templateId)
    .where('tag_assignment.tag', '=', tag)
    .orderBy('tag_assignment.created_at', 'desc')
    .limit(1)
}

function selectReadyBuild(db: Db) {
  return db
    .selectFrom('build')
    .select([
      'build.build_id',
      'build.image',
      'build.snapshot',
      'build.cpu_count',
      'build.memory_mib',
      'build.disk_mib',
      'build.default_user',
      'build.default_workdir',
      'build.envd_version',
      'build.env',
      'build.start_cmd',
      'build.ready_cmd',
      'build.start_context',
    ])
    .where('build.status', 'in', READY_BUILD_STATUSES)
    .where('build.image', 'is not', null)
    .$narrowType<{ image: string }>()
}

type TemplateRow = Awaited<ReturnType<ReturnType<typeof selectTemplate>['executeTakeFirstOrThrow']>>
type BuildRow = Awaited<ReturnType<ReturnType<typeof selectReadyBuild>['executeTakeFirstOrThrow']>>

/** The columns of a build that a join has not found are null. */
function isBuild<T extends { readonly build_id: string | null }>(row: T): row is T & BuildRow {
  return row.build_id !== null
}

function toTemplate(row: TemplateRow): Template {
  return {
    templateId: row.template_id,
    teamId: row.team_id,
    isPublic: row.is_public,
    isSnapshot: row.source === 'snapshot_template',
    alias: row.alias ?? undefined,
  }
}

function toReadyBuild(row: BuildRow): ReadyBuild {
  return {
    buildId: row.build_id,
    image: row.image,
    ...(row.snapshot !== null && { snapshot: row.snapshot as unknown as RuntimeSnapshot }),
    cpuCount: row.cpu_count,
    memoryMib: row.memory_mib,
    diskMib: row.disk_mib,
    defaultUser: row.default_user,
    defaultWorkdir: row.default_workdir,
    envdVersion: row.envd_version ?? undefined,
    env: row.env,
    startCmd: row.start_cmd ?? undefined,
    readyCmd: row.ready_cmd ?? undefined,
    startContext: row.start_context ?? undefined,
  }
}
