import { sql, type RawBuilder, type Selectable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { TeamTable } from '@sandyard/db/schema/team'
import type { PageRequest } from '../templates/list-templates.ts'
import { exactTime } from '../tags/ready-assignments.ts'
import { LIMIT_COLUMNS } from './team-limits.ts'

/** What lists of teams show of one. */
export const TEAM_COLUMNS = [
  'team.id',
  'team.name',
  'team.slug',
  'team.email',
  'team.is_banned',
  'team.is_blocked',
  'team.blocked_reason',
  'team.created_at',
  ...LIMIT_COLUMNS,
] as const

export type TeamRow = Omit<Selectable<TeamTable>, 'creates_used' | 'creates_counted_at'>
/** With its place in a list, to the microsecond. */
export type ListedTeamRow = TeamRow & { readonly exact_time: string }

export interface SearchRequest extends PageRequest {
  /** Text in the name, the slug or the address, in any case. */
  readonly search?: string | undefined
}

/** Newest first, up to `limit + 1`. */
export async function listTeamRows(db: Db, { after, limit, search }: SearchRequest): Promise<ListedTeamRow[]> {
  return db
    .selectFrom('team')
    .select(TEAM_COLUMNS)
    .select(exactTime('team.created_at').as('exact_time'))
    .$if(after !== undefined, (query) => query.where(isBefore('team', after)))
    .$if(search !== undefined, (query) => query.where(contains(['team.name', 'team.slug', 'team.email'], search ?? '')))
    .orderBy('team.created_at', 'desc')
    .orderBy('team.id', 'desc')
    .limit(limit + 1)
    .execute()
}

export async function findTeamRow(db: Db, teamId: string): Promise<TeamRow | undefined> {
  return db.selectFrom('team').select(TEAM_COLUMNS).where('team.id', '=', teamId).executeTakeFirst()
}

/** SQL condition: the row comes after this one in a list that begins with the newest. */
export function isBefore(table: 'team' | 'app_user', after: PageRequest['after']): RawBuilder<boolean> {
  const place = sql`(${sql.ref(`${table}.created_at`)}, ${sql.ref(`${table}.id`)})`
  return sql<boolean>`${place} < (${after?.time ?? null}::timestamptz, ${after?.id ?? null}::uuid)`
}

/** SQL condition: one of the columns contains the text, in any case. */
export function contains(columns: readonly string[], text: string): RawBuilder<boolean> {
  const pattern = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  return sql<boolean>`(${sql.join(
    columns.map((column) => sql`${sql.ref(column)} ilike ${pattern}`),
    sql` or `,
  )})`
}
