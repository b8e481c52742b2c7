import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import { teamBanned, teamBlocked } from '../auth/auth-errors.ts'
import { holdGrantor } from '../auth/grantor.ts'
import type { Principal } from '../auth/principal.ts'
import type { LockedTeam } from '../teams/team-transaction.ts'
import { CREDENTIAL_PREFIXES, issueCredential } from '../auth/credential.ts'
import { checkKeyCap } from './credential-caps.ts'
import { type ApiKeyRow, selectApiKeys } from './api-key-rows.ts'

export interface NewApiKey {
  readonly name: string
  /** Who asks, with the user who is stored. Absent: the command line of the operator, which may also give keys to a blocked team. */
  readonly by?: Principal | undefined
  readonly expiresAt?: Date | undefined
  readonly scope?: KeyScope | undefined
}

/** A key and its raw value, which is readable only now. */
export interface IssuedApiKey {
  readonly row: ApiKeyRow
  readonly key: string
}

/**
 * @throws AppError with the texts of control-plane.md 1.8 and 1.10 when the caller has lost its rights since the authentication;
 * `resource_exhausted` when the team has too many keys
 */
export async function createApiKey({ tx, id: teamId }: LockedTeam, { name, by, expiresAt, scope }: NewApiKey): Promise<IssuedApiKey> {
  const teams = tx.selectFrom('team').select(['id', 'slug', 'is_banned', 'is_blocked', 'blocked_reason']).where('id', '=', teamId)
  const team = await teams.executeTakeFirstOrThrow()
  if (by !== undefined) {
    if (team.is_banned) throw teamBanned()
    if (team.is_blocked) throw teamBlocked(team.blocked_reason ?? undefined)
    await holdGrantor(tx, by, teamId)
  }
  await checkKeyCap(tx, [team])
  const { raw, stored } = issueCredential(CREDENTIAL_PREFIXES.apiKey)
  const { id } = await tx
    .insertInto('api_key')
    .values({ team_id: teamId, created_by: by?.user?.id ?? null, name, expires_at: expiresAt ?? null, scope: scope ?? null, ...stored })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { row: await selectApiKeys(tx).where('api_key.id', '=', id).executeTakeFirstOrThrow(), key: raw }
}
