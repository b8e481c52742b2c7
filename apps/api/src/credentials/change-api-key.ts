import type { Db } from '@sandyard/db/database'

export interface ApiKeyOfTeam {
  readonly teamId: string
  readonly id: string
}

/** False when the team has no such key. */
export async function renameApiKey(db: Db, { teamId, id }: ApiKeyOfTeam, name: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_key')
    .set({ name })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Servers forget the key at once: a trigger of the table notifies them. False when the team has no such key. */
export async function deleteApiKey(db: Db, { teamId, id }: ApiKeyOfTeam): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('api_key').where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}
