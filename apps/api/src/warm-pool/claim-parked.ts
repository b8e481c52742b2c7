import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { isServerAlive } from '@sandyard/db/server-lease'
import type { SandboxEndpoint, SandboxRef } from '@sandyard/runtime/types'

export interface ClaimRequest {
  readonly buildId: string
  readonly generation: string
}

export interface Claimed {
  readonly ref: SandboxRef
  readonly endpoint: SandboxEndpoint
}

/**
 * Takes a sandbox out of the pool, the one that has waited the longest. The caller inserts its row into `sandbox` in the same transaction, so it
 * has exactly one owner at any time. A claim never waits for another one.
 */
export async function claimParked(tx: Tx, { buildId, generation }: ClaimRequest): Promise<Claimed | undefined> {
  const { rows } = await sql<{ sandbox_id: string; incarnation: number; endpoint_host: string; endpoint_daemon_port: number }>`
    delete from parked_sandbox where sandbox_id = (
      select sandbox_id from parked_sandbox
      where state = 'parked' and build_id = ${buildId} and generation = ${generation} and expires_at > clock_timestamp()
      order by state_changed_at limit 1 for update skip locked
    ) returning sandbox_id, incarnation, endpoint_host, endpoint_daemon_port
  `.execute(tx)
  const [row] = rows
  if (row === undefined) return undefined
  return {
    ref: { sandboxId: row.sandbox_id, incarnation: row.incarnation },
    endpoint: { host: row.endpoint_host, daemonPort: row.endpoint_daemon_port },
  }
}

/**
 * Gives a start whose parked sandbox does not work its next incarnation. The former one goes back to the pool to be freed.
 *
 * @returns undefined when the start was ended meanwhile, or the lease of the server has ended
 */
export async function replaceClaimed(tx: Tx, { sandboxId, incarnation }: SandboxRef, serverId: number): Promise<SandboxRef | undefined> {
  const { rows } = await sql`
    with replaced as (
      update sandbox set incarnation = incarnation + 1, endpoint_host = null, endpoint_daemon_port = null
      where sandbox_id = ${sandboxId} and incarnation = ${incarnation} and state = 'starting' and ${isServerAlive(sql`${serverId}::int`)}
      returning template_id, build_id
    )
    insert into parked_sandbox (sandbox_id, incarnation, template_id, build_id, generation, state, server_id, memory_mib, expires_at)
    select ${sandboxId}, ${incarnation}, template_id, build_id, '', 'removing', ${serverId}, 0, clock_timestamp() from replaced
    returning sandbox_id
  `.execute(tx)
  return rows.length === 0 ? undefined : { sandboxId, incarnation: incarnation + 1 }
}
