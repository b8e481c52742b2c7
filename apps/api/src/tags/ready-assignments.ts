import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { READY_BUILD_STATUSES } from '@sandyard/db/schema/build'

/** An assignment of a tag to a ready build. */
export interface AssignmentRow {
  readonly assignment_id: string
  readonly build_id: string
  readonly tag: string
  readonly created_at: Date
  readonly build_created_at: Date
  readonly build_finished_at: Date | null
  /** `created_at` to the microsecond, as RFC 3339. */
  readonly exact_time: string
}

/** An instant as text with full precision. */
export function exactTime(column: string) {
  return sql<string>`to_char(${sql.ref(column)} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}

/** The assignments of a template to ready builds; others do not count (control-plane.md 2.7). */
export function selectReadyAssignments(db: Db, templateId: string) {
  return db
    .selectFrom('tag_assignment')
    .innerJoin('build', 'build.build_id', 'tag_assignment.build_id')
    .where('tag_assignment.template_id', '=', templateId)
    .where('build.status', 'in', READY_BUILD_STATUSES)
}

/** The current build of each tag, sorted by tag (control-plane.md 12.3). */
export async function listTags(db: Db, templateId: string): Promise<Pick<AssignmentRow, 'tag' | 'build_id' | 'created_at'>[]> {
  return selectReadyAssignments(db, templateId)
    .distinctOn('tag_assignment.tag')
    .select(['tag_assignment.tag', 'tag_assignment.build_id', 'tag_assignment.created_at'])
    .orderBy('tag_assignment.tag')
    .orderBy('tag_assignment.created_at', 'desc')
    .execute()
}

export async function countTags(db: Db, templateId: string): Promise<number> {
  const { total } = await selectReadyAssignments(db, templateId)
    .select((eb) => eb.fn.count<number>('tag_assignment.tag').distinct().as('total'))
    .executeTakeFirstOrThrow()
  return total
}

export async function hasTag(db: Db, templateId: string, tag: string): Promise<boolean> {
  const row = await selectReadyAssignments(db, templateId)
    .select('tag_assignment.tag')
    .where('tag_assignment.tag', '=', tag)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export interface AssignmentPage {
  readonly tag: string
  readonly after: { readonly time: string; readonly id: string } | undefined
  readonly limit: number
}

/** A page of the assignments of a tag, newest first. Returns up to `limit + 1` rows; the extra row only shows that there are more. */
export async function listAssignments(db: Db, templateId: string, { tag, after, limit }: AssignmentPage): Promise<AssignmentRow[]> {
  let query = selectReadyAssignments(db, templateId)
    .select(['tag_assignment.assignment_id', 'tag_assignment.build_id', 'tag_assignment.tag', 'tag_assignment.created_at'])
    .select(['build.created_at as build_created_at', 'build.finished_at as build_finished_at'])
    .select(exactTime('tag_assignment.created_at').as('exact_time'))
    .where('tag_assignment.tag', '=', tag)
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(tag_assignment.created_at, tag_assignment.assignment_id) < (${after.time}::timestamptz, ${after.id}::uuid)`,
    )
  }
  return query
    .orderBy('tag_assignment.created_at', 'desc')
    .orderBy('tag_assignment.assignment_id', 'desc')
    .limit(limit + 1)
    .execute()
}
