import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'

/** Ended ones count until they are deleted. */
const MAX_KEYS_OF_TEAM = 1000
const MAX_TOKENS_OF_USER = 1000

/**
 * Checks that each of some teams may have another key. The caller has locked the teams for that.
 *
 * @throws AppError `resource_exhausted`
 */
export async function checkKeyCap(tx: Tx, teams: readonly { readonly id: string; readonly slug: string }[]): Promise<void> {
  const { rows } = await sql<{ team_id: string }>`
    select team_id from api_key where team_id = any(${teams.map(({ id }) => id)}::uuid[])
    group by team_id having count(*) >= ${MAX_KEYS_OF_TEAM} limit 1
  `.execute(tx)
  const slug = teams.find(({ id }) => id === rows[0]?.team_id)?.slug
  if (slug === undefined) return
  throw new AppError('resource_exhausted', `The team '${slug}' has ${MAX_KEYS_OF_TEAM} API keys, and there cannot be more: delete some`)
}

/** The same for the access tokens of a user, whom the caller has locked. @throws AppError `resource_exhausted` */
export async function checkTokenCap(tx: Tx, userId: string): Promise<void> {
  const { count } = await tx
    .selectFrom('access_token')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  if (count < MAX_TOKENS_OF_USER) return
  throw new AppError('resource_exhausted', `You have ${MAX_TOKENS_OF_USER} access tokens, and there cannot be more: delete some`)
}
