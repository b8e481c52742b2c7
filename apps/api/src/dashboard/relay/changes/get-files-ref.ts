import type { Db } from '@sandyard/db/database'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRef } from '@sandyard/runtime/types'
import { absence } from '../sandbox-daemon.ts'

const WITHOUT_FILES: Partial<Record<SandboxState, string>> = { starting: 'starting', killing: 'ending' }

/** A sandbox of the team with files on the engine: it runs or is paused. @throws AppError `not_found`; `conflict` for one that starts, ends or has ended */
export async function getFilesRef(db: Db, teamId: string, sandboxId: string): Promise<SandboxRef> {
  const row = await db
    .selectFrom('sandbox')
    .select(['incarnation', 'state'])
    .where('sandbox_id', '=', sandboxId)
    .where('team_id', '=', teamId)
    .executeTakeFirst()
  if (row === undefined) throw await absence(db, teamId, sandboxId)
  const state = WITHOUT_FILES[row.state]
  if (state !== undefined) throw new AppError('conflict', `The sandbox is ${state}: this works while it runs or is paused`)
  return { sandboxId, incarnation: row.incarnation }
}
