import { sql } from 'kysely'
import { ListKeysQuery } from '@sandyard/dashboard-contract/credentials'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { limitOf, readCursor, takePage } from '../page-cursor.ts'
import { containing, sortableTime } from '../row-texts.ts'

interface StoredKey {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly masked_value_prefix: string
  readonly masked_value_suffix: string
  readonly created_at: Date
  readonly created_by: string | null
  readonly last_used_at: Date | null
  readonly expires_at: Date | null
  readonly scope: string | null
  readonly live: number
  readonly sort_key: string
}

/** `GET /keys`: newest first. */
export const listKeysRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /keys',
    schema: { querystring: ListKeysQuery },
    whileBlocked: true,
    handle: async ({ team, query, session }) => {
      const limit = limitOf(query)
      const after = readCursor(query.cursor)
      const place =
        after === undefined ? sql`true` : sql`(${sortableTime(sql`api_key.created_at`)}, api_key.id::text) < (${after.key}, ${after.id})`
      const { rows } = await sql<StoredKey>`
        with live as (
          select (select data -> 'actor' ->> 'keyId' from event where subject = sandbox_id order by event_id limit 1) as key_id
          from sandbox where team_id = ${team.id} and state <> 'killing'
        )
        select api_key.*, app_user.email as created_by, ${sortableTime(sql`api_key.created_at`)} as sort_key,
          (select count(*)::int from live where live.key_id = api_key.id::text) as live
        from api_key left join app_user on app_user.id = api_key.created_by
        where api_key.team_id = ${team.id} and ${place} and api_key.name ilike ${containing(query.search ?? '')}
        order by api_key.created_at desc, api_key.id::text desc limit ${limit + 1}
      `.execute(ctx.database.db)
      const { page, nextCursor } = takePage(rows, limit, ({ sort_key, id }) => ({ key: sort_key, id }))
      const data = page.map((row) => ({
        keyId: row.id,
        name: row.name,
        mask: `${row.prefix}${row.masked_value_prefix}...${row.masked_value_suffix}`,
        createdAt: row.created_at.toISOString(),
        createdBy: row.created_by,
        lastUsedAt: row.last_used_at?.toISOString() ?? null,
        expiresAt: row.expires_at?.toISOString() ?? null,
        scope: row.scope,
        liveSandboxes: row.live,
        isOwn: row.id === session.key?.id,
      }))
      return { data, nextCursor }
    },
  })
