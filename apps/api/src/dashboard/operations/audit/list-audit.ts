import { sql, type RawBuilder } from 'kysely'
import { AuditQuery, type AuditRow } from '@sandyard/dashboard-contract/usage'
import type { AuditTable } from '@sandyard/db/schema/audit'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { assertOperator } from '../../sessions/dashboard-session.ts'
import { viewActors, type StoredActor } from '../actor-views.ts'
import { limitOf, readCursor, takePage } from '../page-cursor.ts'
import { containing } from '../row-texts.ts'

interface StoredAudit {
  readonly audit_id: number
  readonly created_at: Date
  readonly team_id: string | null
  readonly team_name: string | null
  readonly actor: AuditTable['actor']
  readonly credential_id: string | null
  readonly user_id: string | null
  readonly client_address: string
  readonly request_id: string
  readonly operation: string
  readonly targets: AuditRow['targets']
  readonly status: number
}

/** Records that a page with filters looks through. Older ones are found with a range of time. */
const MAX_SCANNED = 50_000

/** `GET /audit`: newest first. */
export const listAuditRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /audit',
    schema: { querystring: AuditQuery },
    whileBlocked: true,
    handle: async ({ team, session, query }) => {
      if (query.allTeams === true) assertOperator(session)
      const limit = limitOf(query)
      const { rows } = await sql<StoredAudit>`
        select found.*, team.name as team_name from (
          select * from audit where ${sql.join(rangeOf(team.id, query), sql` and `)} order by audit_id desc limit ${MAX_SCANNED}
        ) as found left join team on team.id = found.team_id
        where ${sql.join(filtersOf(query), sql` and `)} order by audit_id desc limit ${limit + 1}
      `.execute(ctx.database.db)
      const { page, nextCursor } = takePage(rows, limit, ({ audit_id }) => ({ key: '', id: String(audit_id) }))
      const view = await viewActors(ctx.database.db, page.map(storedActor))
      return { data: page.map((row) => toRow(row, view)), nextCursor }
    },
  })

function rangeOf(teamId: string, { allTeams, from, to, cursor }: AuditQuery): RawBuilder<unknown>[] {
  const conditions = [allTeams === true ? sql`true` : sql`team_id = ${teamId}`]
  if (from !== undefined) conditions.push(sql`created_at >= ${new Date(from)}`)
  if (to !== undefined) conditions.push(sql`created_at < ${new Date(to)}`)
  const after = readCursor(cursor)
  if (after === undefined) return conditions
  if (!/^\d{1,15}$/.test(after.id)) throw new AppError('invalid_argument', 'The cursor is not one of this list')
  return [...conditions, sql`audit_id < ${Number(after.id)}`]
}

function filtersOf({ search, operation, actor, credentialId }: AuditQuery): RawBuilder<unknown>[] {
  const conditions = [sql`true`]
  if (search !== undefined && search !== '') conditions.push(sql`targets::text ilike ${containing(search)}`)
  if (operation !== undefined) conditions.push(sql`operation = ${operation.replaceAll('\0', '')}`)
  if (actor !== undefined) conditions.push(sql`actor = ${actor}`)
  if (credentialId !== undefined) conditions.push(sql`credential_id = ${credentialId}`)
  return conditions
}

function storedActor({ actor, credential_id, user_id, operation }: StoredAudit): StoredActor {
  const way = operation.startsWith('dashboard ') ? { via: 'dashboard' } : {}
  return { kind: actor, keyId: credential_id, userId: user_id, ...way }
}

function toRow(row: StoredAudit, view: (actor: StoredActor) => AuditRow['actor']): AuditRow {
  return {
    id: String(row.audit_id),
    at: row.created_at.toISOString(),
    operation: row.operation,
    actor: row.actor === 'link' ? { kind: 'unknown', label: 'a signed link' } : view(storedActor(row)),
    teamId: row.team_id,
    teamName: row.team_name,
    clientAddress: row.client_address,
    requestId: row.request_id,
    targets: row.targets,
    status: row.status,
  }
}
