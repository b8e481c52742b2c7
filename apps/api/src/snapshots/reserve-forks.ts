import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import type { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRef } from '@sandyard/runtime/types'
import type { Actor } from '../events/actor.ts'
import type { CurrentNetwork } from '../sandboxes/network/read-network.ts'
import { newSandboxId } from '../sandboxes/sandbox-id.ts'
import { rateExceeded, takeCreates, type CreateRate } from '../sandboxes/create/take-creates.ts'
import { tooManySandboxes } from '../sandboxes/sandbox-errors.ts'
import type { SandboxLimits } from '../sandboxes/sandbox-limits.ts'
import { countOccupied, type SandboxRow } from '../sandboxes/sandbox-queries.ts'
import { announce } from '../sandboxes/sandbox-state.ts'
import { countKeptSandboxes, tooManyPaused } from '../teams/kept-counts.ts'
import { limitsOf } from '../teams/team-limits.ts'
import type { LockedTeam } from '../teams/team-transaction.ts'

export interface ForkReservation {
  /** The sandbox that is forked. */
  readonly row: SandboxRow
  readonly count: number
  /** Those of the settings. */
  readonly limits: SandboxLimits
  readonly serverId: number
  readonly actor: Actor
}

/** A reserved fork, with the network that its row has. */
type ForkRef = SandboxRef & CurrentNetwork

export interface ReservedForks {
  readonly refs: readonly ForkRef[]
  /** Why there are not more of them. */
  readonly refusal: AppError
  /** What is left of the rate of creates; undefined for a team without one. */
  readonly rate: CreateRate | undefined
}

/** Inserts the rows of forks in state `starting`, as many as the limits and the rate of the team allow. */
export async function reserveForks(team: LockedTeam, reservation: ForkReservation): Promise<ReservedForks> {
  const { tx, own } = team
  const { row, count } = reservation
  const limits = limitsOf(reservation.limits, own)
  const free = Math.max(0, limits.concurrentSandboxes - (await countOccupied(tx, row.team_id)))
  // Forks pause at their end time as the sandbox does.
  const freePaused = row.auto_pause ? Math.max(0, limits.maxPausedSandboxes - (await countKeptSandboxes(tx, row.team_id))) : Infinity
  const wanted = Math.min(count, free, freePaused)
  const rate = await takeCreates(team, { limits, wanted })
  const granted = rate?.granted ?? wanted
  const limited = freePaused < free ? tooManyPaused(limits.maxPausedSandboxes, own) : tooManySandboxes(limits.concurrentSandboxes, own)
  const refusal = rate !== undefined && granted < wanted ? rateExceeded(rate) : limited
  return { refs: await insertForks(tx, reservation, granted), refusal, rate }
}

async function insertForks(tx: Tx, { row, serverId, actor }: ForkReservation, count: number): Promise<ForkRef[]> {
  const ids = Array.from({ length: count }, newSandboxId)
  if (ids.length === 0) return []
  const { rows } = await sql<ForkRef>`
    insert into sandbox (
      sandbox_id, incarnation, team_id, template_id, build_id, alias, state, is_secure, metadata, allow_internet_access,
      auto_pause, auto_pause_memory, auto_resume, auto_resume_seconds, network, mcp, volume_mounts, iam, server_id, home_server_id
    )
    select fork_id, 1, team_id, template_id, build_id, alias, 'starting', is_secure, metadata, allow_internet_access,
      auto_pause, auto_pause_memory, auto_resume, auto_resume_seconds, network, mcp, volume_mounts, iam, ${serverId}, ${serverId}
    from sandbox, unnest(${ids}::text[]) as fork_id
    where sandbox_id = ${row.sandbox_id}
    returning sandbox_id as "sandboxId", incarnation, network, allow_internet_access as "allowInternetAccess"
  `.execute(tx)
  const data = { actor, forkOf: row.sandbox_id }
  for (const ref of rows) await announce(tx, ref, { teamId: row.team_id, kind: 'sandbox.starting', data })
  return rows
}
