import { sql } from 'kysely'
import { tooManyPaused } from '../../teams/kept-counts.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import type { LockedTeam } from '../../teams/team-transaction.ts'
import type { SandboxLimits } from '../sandbox-limits.ts'
import { isKept } from '../sandbox-queries.ts'

/**
 * Checks that a request may pause a sandbox. One that pauses at its end time has its place already.
 *
 * @param defaults - of the settings
 * @throws AppError `resource_exhausted`
 */
export async function checkPaused({ tx, id, own }: LockedTeam, defaults: SandboxLimits, sandboxId: string): Promise<void> {
  const { maxPausedSandboxes: limit } = limitsOf(defaults, own)
  const { rows } = await sql<{ kept: number; has_place: boolean | null }>`
    select count(*) as kept, bool_or(sandbox_id = ${sandboxId}) as has_place from sandbox where team_id = ${id} and ${isKept}
  `.execute(tx)
  const { kept = 0, has_place: hasPlace = null } = rows[0] ?? {}
  if (hasPlace !== true && kept >= limit) throw tooManyPaused(limit, own)
}
