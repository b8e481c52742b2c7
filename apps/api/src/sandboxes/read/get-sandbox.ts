import type { Db } from '@sandyard/db/database'
import { sandboxNotFound } from '../sandbox-errors.ts'
import { parseSandboxId } from '../sandbox-id.ts'
import { findSandbox, isLive, type LiveSandboxRow } from '../sandbox-queries.ts'

/**
 * A visible sandbox of the team: one that is starting or ending counts as absent (control-plane.md 6.4).
 *
 * @throws AppError `not_found`
 */
export async function getSandbox(db: Db, teamId: string, givenId: string): Promise<LiveSandboxRow> {
  const row = await findSandbox(db, teamId, parseSandboxId(givenId))
  if (row === undefined || row.state === 'starting' || row.state === 'killing' || !isLive(row)) throw sandboxNotFound(givenId)
  return row
}
