import { sql, type RawBuilder } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { isServerAlive } from '@sandyard/db/server-lease'
import { randomId } from '@sandyard/kit/ids/ids'
import type { SandboxEndpoint, SandboxRef } from '@sandyard/runtime/types'

export interface ClaimRequest {
  readonly buildId: string
  readonly generation: string
  /** The claim is on the disk of the database when its transaction ends. */
  readonly isDurable: boolean
}

/** A claim that is part of the statement of a create. */
export interface Claiming {
  /** Identifies the claim, in the row and in the daemon. */
  readonly claim: string
  /** SQL: has one row with the id and the address of what was claimed, none when nothing waits. */
  readonly statement: RawBuilder<unknown>
}

/** What a create needs of the sandbox that it has claimed. */
export interface Parked {
  readonly endpoint: SandboxEndpoint
  readonly claim: string
}

const CLAIM_LENGTH = 20

/**
 * Takes a sandbox out of the pool, the one that has waited the longest. The statement inserts its row into `sandbox` too, so it has exactly one owner
 * at any time. A claim never waits for another one.
 *
 * A claim that is not durable makes its transaction asynchronous: the transaction in which the sandbox becomes `running`, before the answer, makes
 * both durable. If Postgres crashes in between and loses it, the sandbox waits in the pool again. Its daemon then refuses every other claim, so the
 * next create starts another sandbox, and the first create fails, because no row has its claim.
 */
export function claimParked({ buildId, generation, isDurable }: ClaimRequest): Claiming {
  const statement = sql`
    delete from parked_sandbox where sandbox_id = (
      select sandbox_id from parked_sandbox
      where state = 'parked' and build_id = ${buildId} and generation = ${generation} and expires_at > clock_timestamp()
      order by state_changed_at limit 1 for update skip locked
    ) returning sandbox_id, endpoint_host, endpoint_daemon_port
      ${isDurable ? sql`` : sql`, set_config('synchronous_commit', 'off', true)`}`
  return { claim: randomId(CLAIM_LENGTH), statement }
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
