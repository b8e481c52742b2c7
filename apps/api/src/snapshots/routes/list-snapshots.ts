import { Type } from 'typebox'
import { DEFAULT_PAGE_SIZE, Paged } from '@sandyard/api-contract/paging'
import { ListSnapshotsQuery, SnapshotInfo } from '@sandyard/api-contract/sandboxes/snapshot'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { decodeCursor, encodeCursor } from '../../http/cursor.ts'
import { errors, operation } from '../../http/operation.ts'
import { listSnapshots } from '../list-snapshots.ts'
import { toSnapshotInfo } from '../snapshot-view.ts'

/** `GET /snapshots` (control-plane.md 7.2). */
export const listSnapshotsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listSnapshots'),
    schema: { querystring: ListSnapshotsQuery, response: { 200: Paged(Type.Array(SnapshotInfo)), ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, query }, reply) => {
      const team = getTeam(principal)
      const limit = query.limit ?? DEFAULT_PAGE_SIZE
      const after = query.nextToken === undefined ? undefined : decodeCursor(query.nextToken, 'desc')
      const rows = await listSnapshots(ctx.database.db, team, { sandboxId: query.sandboxID, name: query.name }, { after, limit })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      if (rows.length > limit && last !== undefined) {
        void reply.header('x-next-token', encodeCursor({ time: last.created_at, id: last.template_id }, 'desc'))
      }
      return page.map((row) =>
        toSnapshotInfo({ templateId: row.template_id, tag: row.tag, slug: team.slug, alias: row.alias ?? undefined }),
      )
    },
  })
