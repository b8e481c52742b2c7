import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { keptPlan } from '@sandyard/db/kept-plan'
import { isServerAlive } from '@sandyard/db/server-lease'
import { randomId } from '@sandyard/kit/ids/ids'
import type { SandboxEndpoint, SandboxRef } from '@sandyard/runtime/types'

export interface ClaimRequest {
  readonly buildId: string
  readonly generation: string
  /** The claim is on the disk of the database when its transaction ends. */
  readonly isDurable: boolean
}

/** What a create needs of the sandbox that it has claimed. */
export interface Parked {
  readonly endpoint: SandboxEndpoint
  /** Identifies the claim, in the row and in the daemon. */
  readonly claim: string
}

export interface Claimed {
  readonly ref: SandboxRef
  readonly parked: Parked
}

const CLAIM_LENGTH = 20

/**
 * Takes a sandbox out of the pool, the one that has waited the longest. The caller inserts its row into `sandbox` in the same transaction, so it
 * has exactly one owner at any time. A claim never waits for another one.
 *
 * A claim that is not durable makes its transaction asynchronous: the transaction in which the sandbox becomes `running`, before the answer, makes
 * both durable. If Postgres crashes in between and loses it, the sandbox waits in the pool again. Its daemon then refuses every other claim, so the
 * next create starts another sandbox, and the first create fails, because no row has its claim.
 */
export async function claimParked(tx: Tx, { buildId, generation, isDurable }: ClaimRequest): Promise<Claimed | undefined> {
  const { rows } = await sql<{ sandbox_id: string; incarnation: number; endpoint_host: string; endpoint_daemon_port: number }>`
    delete from parked_sandbox where sandbox_id = (
      select sandbox_id from parked_sandbox
      where state = 'parked' and build_id = ${buildId} and generation = ${generation} and expires_at > clock_timestamp()
      order by state_changed_at limit 1 for update skip locked
    ) returning sandbox_id, incarnation, endpoint_host, endpoint_daemon_port
      ${isDurable ? sql`` : sql`, set_config('synchronous_commit', 'off', true)`}
    ${keptPlan}`.execute(tx)
  const [row] = rows
  if (row === undefined) return undefined
  return {
    ref: { sandboxId: row.sandbox_id, incarnation: row.incarnation },
    parked: { endpoint: { host: row.endpoint_host, daemonPort: row.endpoint_daemon_port }, claim: randomId(CLAIM_LENGTH) },
  }
}

export interface ReplaceRequest {
  readonly claim: string
  readonly serverId: number
}

/**
 * Gives a start whose parked sandbox does not work its next incarnation. The former one goes back to the pool to be freed.
 *
 * @returns undefined when the start was ended meanwhile, the database has lost its claim, or the lease of the server has ended
 */
export async function replaceClaimed(
  tx: Tx,
  { sandboxId, incarnation }: SandboxRef,
  { claim, serverId }: ReplaceRequest,
): Promise<SandboxRef | undefined> {
  const { rows } = await sql`
    with replaced as (
      update sandbox set incarnation = incarnation + 1, endpoint_host = null, endpoint_daemon_port = null
      where sandbox_id = ${sandboxId} and incarnation = ${incarnation} and claim = ${claim} and state = 'starting'
        and ${isServerAlive(sql`${serverId}::int`)}
      returning template_id, build_id
    )
    insert into parked_sandbox (sandbox_id, incarnation, template_id, build_id, generation, state, server_id, memory_mib, expires_at)
    select ${sandboxId}, ${incarnation}, template_id, build_id, '', 'removing', ${serverId}, 0, clock_timestamp() from replaced
    returning sandbox_id
  `.execute(tx)
  return rows.length === 0 ? undefined : { sandboxId, incarnation: incarnation + 1 }
}
