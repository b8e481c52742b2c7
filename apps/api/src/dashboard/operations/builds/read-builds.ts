import { sql, type RawBuilder } from 'kysely'
import type { BuildDetail, BuildRow, BuildState, ListBuildsQuery } from '@sandyard/dashboard-contract/templates'
import type { Db } from '@sandyard/db/database'
import type { BuildStatus } from '@sandyard/db/schema/build'
import { parseChoices } from '../../../text/parse-choices.ts'
import { limitOf, readCursor, takePage } from '../page-cursor.ts'
import { sortableTime, templateName } from '../row-texts.ts'
import { isUnfinished } from './is-unfinished.ts'
import { readLastLinesOf } from './read-build-lines.ts'
import { readSteps } from './read-steps.ts'

export const STATE: Readonly<Record<BuildStatus, BuildState>> = {
  pending: 'waiting',
  waiting: 'waiting',
  in_progress: 'building',
  building: 'building',
  snapshotting: 'building',
  uploaded: 'ready',
  success: 'ready',
  ready: 'ready',
  failed: 'failed',
}
const STATES = ['waiting', 'building', 'ready', 'failed'] satisfies BuildState[]

/** Characters of a reason: the last line of the log has the whole. */
const MAX_REASON = 4000

interface StoredBuild {
  readonly build_id: string
  readonly template_id: string
  readonly template_name: string
  readonly status: BuildStatus
  readonly cpu_count: number
  readonly memory_mib: number
  readonly disk_mib: number
  readonly created_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly reason_message: string | null
  readonly reason_step: string | null
  readonly dockerfile: string | null
  readonly start_cmd: string | null
  readonly can_rebuild: boolean
  readonly tags: readonly string[]
  readonly sort_key: string
}

/** The builds of templates of a team, newest first. Snapshots are none. @throws AppError `invalid_argument` for a wrong cursor or status */
export async function readBuildRows(
  db: Db,
  teamId: string,
  query: ListBuildsQuery,
): Promise<{ rows: BuildRow[]; nextCursor: string | null }> {
  const limit = limitOf(query)
  const after = readCursor(query.cursor)
  const conditions = [sql`template.team_id = ${teamId}`, sql`template.source = 'template'`]
  if (query.template !== undefined) conditions.push(sql`build.template_id = ${query.template}`)
  if (query.status !== undefined) conditions.push(sql`build.status = any(${statusesOf(query.status)}::text[])`)
  if (after !== undefined)
    conditions.push(sql`(${sortableTime(sql`build.created_at`)}, build.build_id::text) < (${after.key}, ${after.id})`)
  const { rows } = await selectBuilds(
    sql`${sql.join(conditions, sql` and `)} order by build.created_at desc, build.build_id::text desc limit ${limit + 1}`,
  ).execute(db)
  const { page, nextCursor } = takePage(rows, limit, ({ sort_key, build_id }) => ({ key: sort_key, id: build_id }))
  return { rows: page.map(toRow), nextCursor }
}

/** Those of the team among them, in any order. */
export async function readBuildsById(db: Db, teamId: string, buildIds: readonly string[]): Promise<BuildRow[]> {
  const { rows } = await selectBuilds(
    sql`build.build_id = any(${[...buildIds]}::uuid[]) and template.team_id = ${teamId} and template.source = 'template'`,
  ).execute(db)
  return rows.map(toRow)
}

/** Undefined for those of other teams. */
export async function readBuildDetail(db: Db, teamId: string, buildId: string): Promise<BuildDetail | undefined> {
  const { rows } = await selectBuilds(sql`build.build_id = ${buildId} and template.team_id = ${teamId}`).execute(db)
  const [build] = rows
  if (build === undefined) return undefined
  const steps = await readSteps(db, build)
  const failing = build.status === 'failed' && build.reason_step !== null ? await readLastLinesOf(db, buildId, build.reason_step) : []
  return {
    ...toRow(build),
    cpuCount: build.cpu_count,
    memoryMib: build.memory_mib,
    diskMib: build.disk_mib,
    steps,
    failingLines: failing,
    dockerfile: build.dockerfile,
    startCommand: build.start_cmd,
    canCancel: isUnfinished(build.status),
    canRebuild: build.can_rebuild,
  }
}

function statusesOf(text: string): string[] {
  const wanted = parseChoices(text, 'status', STATES)
  return Object.entries(STATE).flatMap(([status, state]) => (wanted.includes(state) ? [status] : []))
}

function selectBuilds(rest: RawBuilder<unknown>): RawBuilder<StoredBuild> {
  return sql<StoredBuild>`
    select build.build_id, build.template_id, build.status, build.cpu_count, build.memory_mib, build.disk_mib, build.created_at, build.finished_at,
      build.reason_message, build.reason_step, build.dockerfile, build.start_cmd, ${sortableTime(sql`build.created_at`)} as sort_key,
      template.deleted_at is null and build.builder_version is not null and coalesce(
        (select not needs_credentials from build_plan where build_plan.build_id = build.build_id), trim(coalesce(build.dockerfile, '')) <> '') as can_rebuild,
      ${templateName(sql`build.template_id`)} as template_name,
      coalesce((select started_at from build_job where build_job.build_id = build.build_id),
        (select time from build_log where build_log.build_id = build.build_id order by seq limit 1)) as started_at,
      coalesce((select jsonb_agg(tag order by tag) from (select distinct tag from tag_assignment where tag_assignment.build_id = build.build_id limit 100) as tags), '[]') as tags
    from build join template using (template_id) where ${rest}`
}

function toRow(row: StoredBuild): BuildRow {
  return {
    buildId: row.build_id,
    templateId: row.template_id,
    templateName: row.template_name,
    status: STATE[row.status],
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null,
    tags: row.tags,
    reason:
      row.status === 'failed'
        ? { message: (row.reason_message ?? 'The build failed').slice(0, MAX_REASON).toWellFormed(), step: row.reason_step }
        : null,
  }
}
