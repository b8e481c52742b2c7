import type { Db } from '@sandyard/db/database'
import { sandboxNotFound } from './sandbox-errors.ts'
import { parseSandboxId } from './sandbox-id.ts'
import { findSandbox, isLive, type LiveSandboxRow } from './sandbox-queries.ts'

/**
 * A sandbox of the team that its users may see: one that starts or ends does not exist for them (control-plane.md 6.4).
 *
 * @throws AppError `not_found`
 */
export async function getSandbox(db: Db, teamId: string, givenId: string): Promise<LiveSandboxRow> {
  const row = await findSandbox(db, teamId, parseSandboxId(givenId))
  if (row === undefined || row.state === 'starting' || row.state === 'killing' || !isLive(row)) throw sandboxNotFound(givenId)
  return row
}
