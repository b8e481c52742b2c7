import { isDeepStrictEqual } from 'node:util'
import { sql, type Selectable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { SandboxTable } from '@sandyard/db/schema/sandbox'
import { within } from '@sandyard/kit/async/within'
import { DEFAULT_EGRESS, type SandboxRef } from '@sandyard/runtime/types'
import { refOf } from '../lifecycle/lifecycle-parts.ts'
import type { StartParts } from '../start/start-sandbox.ts'
import { toEgressPolicy } from './to-egress-policy.ts'

export type ApplyParts = Pick<StartParts, 'database' | 'runtime'>

/** Deadline for the runtime to put a policy in force. */
const APPLY_TIMEOUT_MS = 10_000
/** Longer than that, so that two servers never tell the runtime at once. */
const CLAIM_SECONDS = 15
const PENDING_AT_ONCE = 1000

/**
 * Puts the stored network of a sandbox in force if the runtime has an older one. One caller of all servers does it at a time, and each with
 * the newest network, so the runtime ends with the last update. Does nothing while another caller does it.
 *
 * @throws AppError of the runtime; `deadline_exceeded`. The next caller or the reconciler tries again
 */
export async function applyEgress({ database: { db }, runtime }: ApplyParts, ref: SandboxRef): Promise<void> {
  const claim = await claimPending(db, ref)
  if (claim === undefined) return
  try {
    const policy = toEgressPolicy(claim.network, claim.allow_internet_access)
    // A runtime without policies has the default in force.
    if (runtime.capabilities().egressPolicies || !isDeepStrictEqual(policy, DEFAULT_EGRESS)) {
      const options = { what: 'the change of the network', timeoutMs: APPLY_TIMEOUT_MS }
      await within(options, (signal) => runtime.setEgress(ref, policy, signal))
    }
  } catch (err) {
    await endClaim(db, ref, claim, {})
    throw err
  }
  await endClaim(db, ref, claim, { egress_applied: claim.egress_version })
}

/** Whether the runtime has an update or a later one in force. True as well when the sandbox has ended. */
export async function isApplied(db: Db, { sandboxId, incarnation }: SandboxRef, version: number): Promise<boolean> {
  const waiting = await db
    .selectFrom('sandbox')
    .select('sandbox_id')
    .where('sandbox_id', '=', sandboxId)
    .where('incarnation', '=', incarnation)
    .where('state', '<>', 'killing')
    .where('egress_applied', '<', version)
    .executeTakeFirst()
  return waiting === undefined
}

/** The sandboxes whose network has to be put in force, because it failed or the server of the update died. */
export async function listPendingEgress(db: Db): Promise<SandboxRef[]> {
  const rows = await db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'incarnation'])
    .where(isPending)
    .orderBy('sandbox_id')
    .limit(PENDING_AT_ONCE)
    .execute()
  return rows.map(refOf)
}

type Claim = Pick<Selectable<SandboxTable>, 'network' | 'allow_internet_access' | 'egress_version' | 'egress_claimed_until'>

const isPending = sql<boolean>`(
  egress_applied < egress_version and state not in ('starting', 'killing')
  and (egress_claimed_until is null or egress_claimed_until < clock_timestamp())
)`

function claimPending(db: Db, { sandboxId, incarnation }: SandboxRef): Promise<Claim | undefined> {
  return db
    .updateTable('sandbox')
    .set({ egress_claimed_until: sql<Date>`clock_timestamp() + make_interval(secs => ${CLAIM_SECONDS})` })
    .where('sandbox_id', '=', sandboxId)
    .where('incarnation', '=', incarnation)
    .where(isPending)
    .returning(['network', 'allow_internet_access', 'egress_version', 'egress_claimed_until'])
    .executeTakeFirst()
}

/** Changes nothing when the claim was lost to another caller. */
async function endClaim(
  db: Db,
  { sandboxId, incarnation }: SandboxRef,
  { egress_claimed_until }: Claim,
  set: { readonly egress_applied?: number },
): Promise<void> {
  await db
    .updateTable('sandbox')
    .set({ ...set, egress_claimed_until: null })
    .where('sandbox_id', '=', sandboxId)
    .where('incarnation', '=', incarnation)
    .where('egress_claimed_until', '=', egress_claimed_until)
    .execute()
}
