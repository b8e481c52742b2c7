import { sql, type ExpressionBuilder } from 'kysely'
import type { TagSort } from '@sandyard/api-contract/templates/tag-history'
import type { Db } from '@sandyard/db/database'
import { READY_BUILD_STATUSES } from '@sandyard/db/schema/build'
import type { Tables } from '@sandyard/db/schema/tables'
import { exactTime, selectReadyAssignments, type AssignmentRow } from './ready-assignments.ts'

/** A position in the list of groups: a tag and the time of its last assignment. */
export interface GroupPosition {
  /** RFC 3339, to the microsecond. */
  readonly time: string
  readonly tag: string
}

export interface GroupQuery {
  readonly sort: TagSort
  /** Substring of the tags. */
  readonly search: string
  /** The last group of the former page. */
  readonly after: GroupPosition | undefined
  readonly tagsLimit: number
  readonly assignmentLimit: number
}

export interface TagGroup extends GroupPosition {
  /** Newest first. */
  readonly assignments: readonly AssignmentRow[]
  readonly hasMore: boolean
}

const LATEST = sql<Date>`(latest, tag)`
const NAME = sql<string>`tag`

const ORDERS = {
  latest_desc: { by: ['latest', 'tag'], key: LATEST, direction: 'desc', beyond: sql`<` },
  latest_asc: { by: ['latest', 'tag'], key: LATEST, direction: 'asc', beyond: sql`>` },
  name_desc: { by: ['tag'], key: NAME, direction: 'desc', beyond: sql`<` },
  name_asc: { by: ['tag'], key: NAME, direction: 'asc', beyond: sql`>` },
} as const

/**
 * A page of a template's tags, each with its last assignments (clients-python-2.63.md 7), in one query. Returns up to `tagsLimit + 1`
 * groups; the extra group only shows that there are more.
 */
export async function listTagGroups(db: Db, templateId: string, query: GroupQuery): Promise<TagGroup[]> {
  const { sort, search, after, tagsLimit, assignmentLimit } = query
  const { by, direction, key, beyond } = ORDERS[sort]
  const place = after && (by.length === 1 ? sql`${after.tag}` : sql`(${after.time}::timestamptz, ${after.tag})`)
  let rows = db
    .with('tagged', () =>
      selectReadyAssignments(db, templateId)
        .select(['tag_assignment.tag', sql<Date>`max(tag_assignment.created_at)`.as('latest')])
        .where(sql<boolean>`strpos(tag_assignment.tag, ${search}) > 0`)
        .groupBy('tag_assignment.tag'),
    )
    .with('page', (cte) => {
      const page = by.reduce((query, column) => query.orderBy(column, direction), cte.selectFrom('tagged').selectAll())
      return page.limit(tagsLimit + 1).$if(place !== undefined, (query) => query.where(sql<boolean>`${key} ${beyond} ${place}`))
    })
    .selectFrom('page')
    .innerJoinLateral(
      (eb) => assignmentsOf(eb, templateId, assignmentLimit).as('assigned'),
      (join) => join.onTrue(),
    )
    .selectAll('assigned')
    .select(exactTime('page.latest').as('latest_time'))
  for (const column of by) rows = rows.orderBy(`page.${column}`, direction)
  const found = await rows.orderBy('assigned.created_at', 'desc').orderBy('assigned.assignment_id', 'desc').execute()
  return group(found, assignmentLimit)
}

/** Up to `limit + 1` assignments of the tag of `page`. */
function assignmentsOf(eb: ExpressionBuilder<Tables & { page: { tag: string } }, 'page'>, templateId: string, limit: number) {
  return eb
    .selectFrom('tag_assignment')
    .innerJoin('build', 'build.build_id', 'tag_assignment.build_id')
    .select(['tag_assignment.assignment_id', 'tag_assignment.build_id', 'tag_assignment.tag', 'tag_assignment.created_at'])
    .select(['build.created_at as build_created_at', 'build.finished_at as build_finished_at'])
    .select(exactTime('tag_assignment.created_at').as('exact_time'))
    .where('tag_assignment.template_id', '=', templateId)
    .whereRef('tag_assignment.tag', '=', 'page.tag')
    .where('build.status', 'in', READY_BUILD_STATUSES)
    .orderBy('tag_assignment.created_at', 'desc')
    .orderBy('tag_assignment.assignment_id', 'desc')
    .limit(limit + 1)
}

function group(rows: readonly (AssignmentRow & { latest_time: string })[], limit: number): TagGroup[] {
  const groups = new Map<string, { tag: string; time: string; assignments: AssignmentRow[] }>()
  for (const row of rows) {
    const known = groups.get(row.tag) ?? { tag: row.tag, time: row.latest_time, assignments: [] }
    known.assignments.push(row)
    groups.set(row.tag, known)
  }
  return [...groups.values()].map(({ assignments, ...position }) => ({
    ...position,
    assignments: assignments.slice(0, limit),
    hasMore: assignments.length > limit,
  }))
}
