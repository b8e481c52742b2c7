import type { NewSecret } from '@sandyard/api-contract/secrets/secret'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import type { LockedTeam } from '../teams/team-transaction.ts'
import { checkSecret, readSecretName } from './check-secret.ts'
import { insertVersion } from './insert-version.ts'
import { secretConflict } from './secret-errors.ts'
import { newSecretId } from './secret-id.ts'
import type { SecretRow } from './secret-rows.ts'

/** Secrets of a team. */
const MAX_SECRETS = 1000

/** @throws AppError `invalid_argument`; `conflict` for a name that is taken, and at the limit of the team */
export async function createSecret({ tx, id: teamId }: LockedTeam, ring: KeyRing, body: NewSecret): Promise<SecretRow> {
  const name = readSecretName(body)
  checkSecret(body)
  const { count } = await tx
    .selectFrom('secret')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow()
  if (count >= MAX_SECRETS) throw secretConflict('secret_limit_reached')
  const row = await tx
    .insertInto('secret')
    .values({ secret_id: newSecretId(), team_id: teamId, name, metadata: JSON.stringify(body.metadata ?? {}), current_version: 1 })
    .onConflict((conflict) => conflict.columns(['team_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) throw secretConflict()
  await insertVersion(tx, ring, { row, value: body.value })
  return row
}
