import type { FastifyReply } from 'fastify'
import type { ListApiKeysQuery, TeamApiKey } from '@sandyard/api-contract/credentials/api-key'
import { DEFAULT_PAGE_SIZE } from '@sandyard/api-contract/paging'
import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { decodeCursor, encodeCursor, type Cursor } from '../../http/cursor.ts'
import { sendList } from '../../http/send-list.ts'
import { listAllApiKeys, listApiKeyPage } from '../api-key-rows.ts'
import { toTeamApiKey } from '../credential-view.ts'

/** The keys of a team: all of them, or a page with the header of the next one. @throws AppError `invalid_argument` for another token */
export async function sendApiKeys(reply: FastifyReply, db: Db, teamId: string, query: ListApiKeysQuery): Promise<TeamApiKey[]> {
  const { nextToken, limit = DEFAULT_PAGE_SIZE } = query
  if (query.limit === undefined && nextToken === undefined) return sendList(reply, await listAllApiKeys(db, teamId), toTeamApiKey)
  const rows = await listApiKeyPage(db, teamId, { after: readCursor(nextToken), limit })
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  if (last !== undefined) void reply.header('x-next-token', encodeCursor({ time: last.exact_time, id: last.id }, 'desc'))
  return page.map(toTeamApiKey)
}

function readCursor(token: string | undefined): Cursor | undefined {
  const cursor = token === undefined ? undefined : decodeCursor(token, 'desc')
  if (cursor !== undefined && !isUuid(cursor.id)) throw new AppError('invalid_argument', 'Invalid next token')
  return cursor
}
