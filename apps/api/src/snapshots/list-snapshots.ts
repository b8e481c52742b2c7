import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { Team } from '../teams/team.ts'
import { isUsableBy } from '../templates/template.ts'
import { findTemplate } from '../templates/resolve-template.ts'
import { DEFAULT_TAG, parseReferenceAs } from '../templates/template-reference.ts'

export interface SnapshotFilter {
  /** The sandbox that the snapshot was taken of. */
  readonly sandboxId: string | undefined
  /** An alias, `namespace/alias` or a template id, with an optional tag. */
  readonly name: string | undefined
}

export interface SnapshotPage {
  /** The last snapshot of the former page. */
  readonly after: { readonly time: string; readonly id: string } | undefined
  readonly limit: number
}

/** A snapshot template with its newest build that the filter matches. */
export interface SnapshotRow {
  readonly template_id: string
  readonly alias: string | null
  readonly tag: string
  readonly created_at: Date
}

/**
 * The snapshot templates of a team, newest first, each once (control-plane.md 7.2). Returns up to `limit + 1` rows; the extra row only shows
 * that there are more.
 *
 * @throws AppError `invalid_argument` for an invalid name
 */
export async function listSnapshots(db: Db, team: Team, filter: SnapshotFilter, { after, limit }: SnapshotPage): Promise<SnapshotRow[]> {
  const reference = filter.name === undefined ? undefined : parseReferenceAs('Invalid name', filter.name)
  const template = reference && (await findTemplate(db, team, reference))
  if (reference !== undefined && (template === undefined || !isUsableBy(template, team.id))) return []
  // `default` is the same as no tag in a reference; only here the difference counts.
  const tag = reference?.tag ?? (filter.name?.trim().toLowerCase().endsWith(`:${DEFAULT_TAG}`) ? DEFAULT_TAG : undefined)
  const isWhole = filter.sandboxId === undefined && template === undefined
  // Without a filter the order is that of an index; what a filter leaves is little.
  const time = isWhole ? sql`template.snapshotted_at` : sql`newest.created_at`
  const wanted = [
    sql`template.team_id = ${team.id} and template.source = 'snapshot_template' and template.deleted_at is null`,
    ...(isWhole ? [sql`template.snapshotted_at is not null`] : []),
    ...(template === undefined ? [] : [sql`template.template_id = ${template.templateId}`]),
    ...(filter.sandboxId === undefined
      ? []
      : [sql`template.template_id in (select template_id from build where source_sandbox_id = ${filter.sandboxId})`]),
    ...(after === undefined ? [] : [sql`(${time}, template.template_id) < (${after.time}::timestamptz, ${after.id})`]),
  ]
  const { rows } = await sql<SnapshotRow>`
    select template.template_id, newest.tag, newest.created_at,
      (select alias from template_alias where template_alias.template_id = template.template_id order by created_at, alias limit 1) as alias
    from template
    join lateral (
      select assignment.tag, assignment.created_at::timestamptz(3) as created_at
      from tag_assignment as assignment join build using (build_id)
      where assignment.template_id = template.template_id and build.status in ('uploaded', 'success', 'ready')
        and (${tag ?? null}::text is null or assignment.tag = ${tag ?? null})
        and (${filter.sandboxId ?? null}::text is null or build.source_sandbox_id = ${filter.sandboxId ?? null})
      order by assignment.created_at desc limit 1
    ) as newest on true
    where ${sql.join(wanted, sql` and `)}
    order by ${time} desc, template.template_id desc
    limit ${limit + 1}
  `.execute(db)
  return rows
}
