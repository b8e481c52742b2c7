import { sql } from 'kysely'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { LockedTeam } from '../../teams/team-transaction.ts'
import type { SandboxLimits } from '../sandbox-limits.ts'

/** What a team has left of its rate of creates. */
export interface CreateRate {
  /** How many of the wanted creates are within the rate. */
  readonly granted: number
  readonly burst: number
  readonly remaining: number
  /** Whole seconds until the whole burst is there again. */
  readonly resetSeconds: number
  /** Whole seconds until one more create is allowed, at least 1. */
  readonly retryAfterSeconds: number
}

/**
 * Counts creates against the rate of a team (control-plane.md 1.11), as many of `wanted` as it allows. The count is in the row of the team, so it holds over all servers; it is undone with the transaction. A clock of the database that was set back is as far from
 * the last count as it would be ahead: a refused create changes nothing, so the team would wait until the clock has caught up.
 *
 * @returns undefined for a team without such a limit
 */
export async function takeCreates(
  { tx, id: teamId }: LockedTeam,
  { limits, wanted }: { readonly limits: SandboxLimits; readonly wanted: number },
): Promise<CreateRate | undefined> {
  const { createsPerMinute, createBurst: burst = createsPerMinute } = limits
  if (createsPerMinute === undefined || burst === undefined) return undefined
  const secondsEach = 60 / createsPerMinute
  const { rows } = await sql<{ granted: number; used: number }>`
    with before as (
      select id, now, greatest(0, least(coalesce(creates_used, 0), ${burst}) - coalesce(abs(extract(epoch from now - creates_counted_at)), 0) / ${secondsEach}) as used
      from team, clock_timestamp() as now where id = ${teamId}
    ), taken as (
      select id, now, used, least(${wanted}, greatest(0, floor(${burst} - used)))::integer as granted from before
    )
    update team set creates_used = used + granted, creates_counted_at = now from taken where team.id = taken.id
    returning granted, creates_used as used
  `.execute(tx)
  const { granted = 0, used = burst } = rows[0] ?? {}
  return {
    granted,
    burst,
    remaining: Math.max(0, Math.floor(burst - used)),
    resetSeconds: Math.ceil(used * secondsEach),
    retryAfterSeconds: Math.max(1, Math.ceil((used + 1 - burst) * secondsEach)),
  }
}

/** The headers of the answer of a create (control-plane.md 1.11). */
export function rateHeaders({ burst, remaining, resetSeconds }: CreateRate): Readonly<Record<string, string>> {
  return { 'ratelimit-limit': String(burst), 'ratelimit-remaining': String(remaining), 'ratelimit-reset': String(resetSeconds) }
}

export function rateExceeded(rate: CreateRate): AppError {
  const headers = { ...rateHeaders(rate), 'retry-after': String(rate.retryAfterSeconds) }
  return new AppError('resource_exhausted', 'Rate limit exceeded', { headers })
}
