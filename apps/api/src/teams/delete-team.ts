import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { ensureDefaults, lockUsers } from './members.ts'
import { teamTransaction, type TeamTurn } from './team-transaction.ts'

/** The code of Postgres for a row that another one refers to. */
const STILL_REFERRED = '23503'

/**
 * Deletes a team with its keys and memberships; users whose default it was get another one. No sandbox, build or template of it can come meanwhile: they lock the team.
 *
 * @throws AppError `conflict` while it has sandboxes, builds, templates or volumes; the error of `onGone`
 */
export async function deleteTeam(database: Database, turn: Omit<TeamTurn, 'isUrgent'>): Promise<void> {
  const { teamId } = turn
  try {
    await teamTransaction(database, { ...turn, isUrgent: true }, async ({ tx }) => {
      const { rows } = await sql<{ left: string | null }>`
        select case
          when exists (select from sandbox where team_id = ${teamId}) then 'sandboxes'
          when exists (select from build_job where team_id = ${teamId}) then 'builds'
          when exists (select from template where team_id = ${teamId} and deleted_at is null) then 'templates'
        end as left
      `.execute(tx)
      const left = rows[0]?.left ?? undefined
      if (left !== undefined) throw stillHas(left)
      const members = await tx.selectFrom('team_member').select('user_id').where('team_id', '=', teamId).execute()
      const userIds = members.map(({ user_id: id }) => id)
      await lockUsers(tx, userIds)
      await tx.deleteFrom('team').where('id', '=', teamId).execute()
      await ensureDefaults(tx, userIds, { notFirst: teamId })
    })
  } catch (err) {
    if ((err as { readonly code?: unknown } | null)?.code === STILL_REFERRED) throw stillHas('objects', err)
    throw err
  }
}

function stillHas(what: string, cause?: unknown): AppError {
  return new AppError('conflict', `The team still has ${what}: delete them first`, { cause })
}
