import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { exactTime } from '../tags/ready-assignments.ts'

export type ApiKeyRow = Awaited<ReturnType<typeof listAllApiKeys>>[number]

/** Cap of an answer without pages. */
const MOST_UNPAGED = 5000

/** Keys with their creators, newest first; without their values, which are not stored. */
export function selectApiKeys(db: Db) {
  return db
    .selectFrom('api_key')
    .leftJoin('app_user', 'app_user.id', 'api_key.created_by')
    .select(['api_key.id', 'api_key.name', 'prefix', 'value_length', 'masked_value_prefix', 'masked_value_suffix'])
    .select(['api_key.created_at', 'last_used_at', 'expires_at', 'scope', 'app_user.id as user_id', 'app_user.email as user_email'])
    .select(exactTime('api_key.created_at').as('exact_time'))
    .orderBy('api_key.created_at', 'desc')
    .orderBy('api_key.id', 'desc')
}

/** All keys of a team. @throws AppError `invalid_argument` when there are too many for one answer */
export async function listAllApiKeys(db: Db, teamId: string) {
  const rows = await selectApiKeys(db)
    .where('api_key.team_id', '=', teamId)
    .limit(MOST_UNPAGED + 1)
    .execute()
  if (rows.length <= MOST_UNPAGED) return rows
  throw new AppError('invalid_argument', `There are more than ${MOST_UNPAGED} API keys: use the parameter limit, which makes pages`)
}

export interface ApiKeyPage {
  /** The last key of the former page. */
  readonly after: { readonly time: string; readonly id: string } | undefined
  readonly limit: number
}

/** A page of a team's keys. Returns up to `limit + 1` rows; the extra row only shows that there are more. */
export async function listApiKeyPage(db: Db, teamId: string, { after, limit }: ApiKeyPage): Promise<ApiKeyRow[]> {
  const keys = selectApiKeys(db).where('api_key.team_id', '=', teamId)
  const further = after && sql<boolean>`(api_key.created_at, api_key.id) < (${after.time}::timestamptz, ${after.id}::uuid)`
  return (further === undefined ? keys : keys.where(further)).limit(limit + 1).execute()
}
