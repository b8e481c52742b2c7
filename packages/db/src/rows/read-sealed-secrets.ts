import { sql } from 'kysely'
import type { Db } from '../database.ts'

export interface SealedSecretRow {
  readonly team_id: string
  readonly name: string
  readonly secret_id: string
  readonly version: number
  readonly sealed: Buffer
  readonly key_id: string
}

/** The newest versions of some secrets, by team and name; of those that exist. */
export async function readSealedSecrets(
  db: Db,
  wanted: readonly { readonly teamId: string; readonly name: string }[],
): Promise<SealedSecretRow[]> {
  const { rows } = await sql<SealedSecretRow>`
    select secret.team_id, secret.name, secret.secret_id, newest.version, newest.sealed, newest.key_id
    from unnest(${wanted.map(({ teamId }) => teamId)}::uuid[], ${wanted.map(({ name }) => name)}::text[]) as wanted (team_id, name)
    join secret using (team_id, name)
    join secret_version as newest on newest.secret_id = secret.secret_id and newest.version = secret.current_version
  `.execute(db)
  return rows
}
