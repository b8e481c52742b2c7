import { sql } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import { holdGrantor } from '../auth/grantor.ts'
import { endOfToken, getUser, type Principal } from '../auth/principal.ts'
import { checkKeyCap } from '../credentials/credential-caps.ts'
import { CREDENTIAL_PREFIXES, issueCredential } from '../auth/credential.ts'
import { teamsTransaction } from './team-transaction.ts'

export interface TeamWithKey {
  readonly teamId: string
  readonly name: string
  /** The only time that the key is readable. */
  readonly apiKey: string
  readonly isDefault: boolean
}

/** The name of these keys (control-plane.md 5.2). */
const KEY_NAME = 'CLI login/configure'

/**
 * The teams of a user that can authenticate, each with a new API key: keys are not stored in a readable form. All keys or none are made.
 *
 * @param by the caller; if its access token has an end, the keys have the same end
 * @throws AppError `unauthenticated` when the caller has lost its rights since the authentication; `resource_exhausted` when a team has too
 * many keys
 */
export async function listTeamsWithKeys(database: Database, by: Principal): Promise<TeamWithKey[]> {
  const { id: userId } = getUser(by)
  const memberships = await database.db.selectFrom('team_member').select('team_id').where('user_id', '=', userId).execute()
  const teamIds = memberships.map(({ team_id }) => team_id)
  return teamsTransaction(database, teamIds, async (tx) => {
    await holdGrantor(tx, by)
    const teams = await findTeams(tx, userId, teamIds)
    await checkKeyCap(tx, teams)
    const keyed = teams.map((team) => ({ ...team, key: issueCredential(CREDENTIAL_PREFIXES.apiKey) }))
    if (keyed.length > 0) {
      const rows = keyed.map(({ id, key }) => ({
        team_id: id,
        created_by: userId,
        name: KEY_NAME,
        expires_at: endOfToken(by) ?? null,
        ...key.stored,
      }))
      await tx.insertInto('api_key').values(rows).execute()
    }
    return keyed.map(({ id, name, is_default, key }) => ({ teamId: id, name, apiKey: key.raw, isDefault: is_default }))
  })
}

/** Those that are locked: the user may have joined another one since. */
function findTeams(tx: Tx, userId: string, teamIds: readonly string[]) {
  return tx
    .selectFrom('team')
    .innerJoin('team_member', 'team_member.team_id', 'team.id')
    .select(['team.id', 'team.name', 'team.slug', 'team_member.is_default'])
    .where('team_member.user_id', '=', userId)
    .where('team.id', '=', sql<string>`any(${teamIds}::uuid[])`)
    .where('team.is_banned', '=', false)
    .orderBy('team.created_at')
    .orderBy('team.id')
    .forKeyShare('team_member')
    .execute()
}
