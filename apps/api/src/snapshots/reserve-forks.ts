import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import type { SandboxRef } from '@sandyard/runtime/types'
import type { Actor } from '../events/actor.ts'
import type { CurrentNetwork } from '../sandboxes/network/read-network.ts'
import { newSandboxId } from '../sandboxes/sandbox-id.ts'
import { countOccupied, type SandboxRow } from '../sandboxes/sandbox-queries.ts'
import { announce } from '../sandboxes/sandbox-state.ts'
import { lockTeam } from '../teams/lock-team.ts'

export interface ForkReservation {
  /** The sandbox that is forked. */
  readonly row: SandboxRow
  readonly count: number
  /** Concurrent sandboxes of the team. */
  readonly limit: number
  readonly serverId: number
  readonly actor: Actor
}

/** A reserved fork, with the network that its row has. */
export type ForkRef = SandboxRef & CurrentNetwork

/** Inserts the rows of forks in state `starting`, as many as the limit of the team allows. */
export async function reserveForks(tx: Tx, { row, count, limit, serverId, actor }: ForkReservation): Promise<ForkRef[]> {
  await lockTeam(tx, row.team_id)
  const free = Math.max(0, limit - (await countOccupied(tx, row.team_id)))
  const ids = Array.from({ length: Math.min(count, free) }, newSandboxId)
  if (ids.length === 0) return []
  const { rows } = await sql<ForkRef>`
    insert into sandbox (
      sandbox_id, incarnation, team_id, template_id, build_id, alias, state, is_secure, metadata, allow_internet_access,
      auto_pause, auto_pause_memory, auto_resume, auto_resume_seconds, network, mcp, server_id
    )
    select fork_id, 1, team_id, template_id, build_id, alias, 'starting', is_secure, metadata, allow_internet_access,
      auto_pause, auto_pause_memory, auto_resume, auto_resume_seconds, network, mcp, ${serverId}
    from sandbox, unnest(${ids}::text[]) as fork_id
    where sandbox_id = ${row.sandbox_id}
    returning sandbox_id as "sandboxId", incarnation, network, allow_internet_access as "allowInternetAccess"
  `.execute(tx)
  const data = { actor, forkOf: row.sandbox_id }
  for (const ref of rows) await announce(tx, ref, { teamId: row.team_id, kind: 'sandbox.starting', data })
  return rows
}
