import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { CHANNELS, notify } from '@sandyard/db/notify'
import { randomId } from '@sandyard/kit/ids/ids'

/** How long a server owns a build without a renewal. */
export const LEASE_MS = 20_000

/** One server's attempt at a build. Every write names the attempt, so a server whose attempt has ended cannot change anything. */
export interface Attempt {
  readonly buildId: string
  readonly attempt: number
  readonly serverId: number
}

/** The id of a build sandbox: `b` and 20 characters of `[a-z0-9]`, never the id of a sandbox of a client. */
export function newBuildSandboxId(): string {
  return `b${randomId(20)}`
}

/** The build has ended or belongs to another server. */
export class AttemptLostError extends Error {
  override readonly name = 'AttemptLostError'

  constructor({ buildId, attempt }: Attempt) {
    super(`attempt ${attempt} at build ${buildId} is over`)
  }
}

/** Orders to the server that runs a build. */
export interface Orders {
  /** Set when the build must end, with the reason. */
  readonly cancelReason: string | undefined
  /** Time to the deadline of the whole build; negative after it. */
  readonly remainingMs: number
}

/**
 * Locks the attempt for the rest of the transaction.
 *
 * @throws AttemptLostError
 */
export async function holdAttempt(tx: Tx, attempt: Attempt): Promise<{ readonly cancelReason: string | undefined }> {
  const row = await tx
    .selectFrom('build_job')
    .select('cancel_reason')
    .where('build_id', '=', attempt.buildId)
    .where('attempt', '=', attempt.attempt)
    .where('server_id', '=', attempt.serverId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (row === undefined) throw new AttemptLostError(attempt)
  return { cancelReason: row.cancel_reason ?? undefined }
}

/**
 * Renews the lease for another `LEASE_MS`.
 *
 * @throws AttemptLostError
 */
export async function renewLease(tx: Tx, attempt: Attempt, timeoutMs: number): Promise<Orders> {
  const row = await tx
    .updateTable('build_job')
    .set({ lease_until: leaseEnd() })
    .where('build_id', '=', attempt.buildId)
    .where('attempt', '=', attempt.attempt)
    .where('server_id', '=', attempt.serverId)
    .returning(['cancel_reason', remainingMs(timeoutMs).as('remaining_ms')])
    .executeTakeFirst()
  if (row === undefined) throw new AttemptLostError(attempt)
  return { cancelReason: row.cancel_reason ?? undefined, remainingMs: row.remaining_ms }
}

/** Returns the build to the queue, where the next server finds it at once. Does nothing if the attempt has ended already. */
export async function releaseAttempt(tx: Tx, attempt: Attempt): Promise<void> {
  const released = await tx
    .updateTable('build_job')
    .set({ server_id: null, lease_until: null })
    .where('build_id', '=', attempt.buildId)
    .where('attempt', '=', attempt.attempt)
    .where('server_id', '=', attempt.serverId)
    .executeTakeFirst()
  if (released.numUpdatedRows > 0n) await notify(tx, CHANNELS.buildChanged, attempt.buildId)
}

export function leaseEnd() {
  return sql<Date>`clock_timestamp() + make_interval(secs => ${LEASE_MS / 1000})`
}

/** The deadline of a build counts from its first attempt. */
export function remainingMs(timeoutMs: number) {
  return sql<number>`(extract(epoch from started_at - clock_timestamp()) * 1000)::float8 + ${timeoutMs}`
}
