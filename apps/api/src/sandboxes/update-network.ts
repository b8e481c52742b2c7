import { sql } from 'kysely'
import type { SandboxNetworkUpdate } from '@sandyard/api-contract/sandboxes/network'
import type { Tx } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { within } from '@sandyard/kit/async/within'
import type { SandboxRef } from '@sandyard/runtime/types'
import { isTrustStoreMissing } from '../daemon/init-daemon.ts'
import type { Actor } from '../events/actor.ts'
import { UnservedFieldError } from '../metrics/unserved-field.ts'
import { endpointOf, refOf, WAIT_MS, type LifecycleParts } from './lifecycle/lifecycle-parts.ts'
import { applyEgress, isApplied } from './network/apply-egress.ts'
import { checkEgressLists } from './network/check-egress-lists.ts'
import { checkEgressProxy } from './network/check-egress-proxy.ts'
import { checkRules } from './network/check-rules.ts'
import { resolveEgressProxy } from './network/resolve-egress-proxy.ts'
import { unservedEgressField } from './network/served-egress.ts'
import { EGRESS_FIELDS, toStoredEgress } from './network/stored-network.ts'
import { sandboxNotRunning } from './sandbox-errors.ts'
import { parseSandboxId } from './sandbox-id.ts'
import { findSandbox, type SandboxRow } from './sandbox-queries.ts'
import { announce } from './sandbox-state.ts'
import { trustAuthorities } from './start/trust-authorities.ts'

export interface NetworkRequest {
  readonly givenId: string
  /** Replaces the egress part; absent fields are cleared. An absent `allow_internet_access` denies nothing and keeps the stored flag. */
  readonly update: SandboxNetworkUpdate
  readonly actor: Actor
}

/** Entries of each list in the event of an update, which outlives the sandbox. */
const MAX_TOLD = 100
/** Longer than a server that died in an update delays the next one. */
const APPLY_WAIT_MS = 30_000
/** A running daemon answers at once. */
const TRUST_TIMEOUT_MS = 10_000

/**
 * Replaces the egress policy of a running or paused sandbox (control-plane.md 6.11) and returns when it is in force. A transition in flight is
 * waited for. The row is changed first: if the runtime fails, the wanted policy stays, and the reconciler puts it in force.
 *
 * @throws AppError of control-plane.md 6.11 and 18.3-18.6; UnservedFieldError for a policy that nothing enforces
 */
export async function updateNetwork(parts: LifecycleParts, teamId: string, request: NetworkRequest): Promise<void> {
  const { givenId, update, actor } = request
  const sandboxId = parseSandboxId(givenId)
  checkEgressLists(update)
  checkEgressProxy(update.egressProxy)
  let isChecked = false
  const change = await parts.changes.until(
    sandboxId,
    async () => {
      const row = await findSandbox(parts.database.db, teamId, sandboxId)
      if (row === undefined || row.state === 'starting' || row.state === 'killing') throw sandboxNotRunning(givenId, row?.state)
      if (!isChecked) await checkUpdate(parts, row, update)
      isChecked = true
      if (row.state !== 'running' && row.state !== 'paused') return undefined
      if (row.state === 'running') await trustBefore(parts, row, update)
      const ref = refOf(row)
      const version = await parts.database.transaction((tx) => replace(tx, ref, { teamId, from: row.state, update, actor }))
      return version === undefined ? undefined : { ref, version }
    },
    { timeoutMs: WAIT_MS },
  )
  await putInForce(parts, change)
}

async function checkUpdate({ runtime, lookupHost }: LifecycleParts, row: SandboxRow, update: SandboxNetworkUpdate): Promise<void> {
  checkRules(update.rules, row.envd_version ?? undefined)
  const has = runtime.capabilities()
  const isClosed = update.allow_internet_access === false && !has.egressPolicies
  const unserved = isClosed ? 'allow_internet_access' : unservedEgressField(update, has)
  if (unserved !== undefined) throw new UnservedFieldError(unserved)
  await resolveEgressProxy(update.egressProxy, lookupHost)
}

/** Before the rules are stored, so that a sandbox that cannot trust its authority keeps its network. @throws AppError */
async function trustBefore(parts: LifecycleParts, row: SandboxRow, update: SandboxNetworkUpdate): Promise<void> {
  const { template_id: templateId, build_id: buildId, is_secure: isSecure } = row
  const source = { ...refOf(row), templateId, build: { buildId }, isSecure, network: toStoredEgress(update) }
  if (source.network.rules === undefined) return
  const what = 'the trust in the authority of the sandbox'
  try {
    await within({ what, timeoutMs: TRUST_TIMEOUT_MS }, (signal) => trustAuthorities(parts, source, endpointOf(row), signal))
  } catch (cause) {
    throw isTrustStoreMissing(cause) ? cause : notApplied(cause)
  }
}

interface Replacement extends Pick<NetworkRequest, 'update' | 'actor'> {
  readonly teamId: string
  /** The state in which it was found. */
  readonly from: SandboxRow['state']
}

/** The number of the update; undefined when the state has changed. */
async function replace(tx: Tx, ref: SandboxRef, { teamId, from, update, actor }: Replacement): Promise<number | undefined> {
  const stored = toStoredEgress(update)
  const { allow_internet_access } = update
  const changed = await tx
    .updateTable('sandbox')
    .set({
      network: sql`network - ${[...EGRESS_FIELDS]}::text[] || ${JSON.stringify(stored)}::jsonb`,
      egress_version: sql`egress_version + 1`,
      ...(allow_internet_access !== undefined && { allow_internet_access }),
    })
    .where('sandbox_id', '=', ref.sandboxId)
    .where('incarnation', '=', ref.incarnation)
    .where('state', '=', from)
    .returning('egress_version')
    .executeTakeFirst()
  if (changed === undefined) return undefined
  const { allowOut = [], denyOut = [], dnsServers, egressProxy, rules } = stored
  const omitted = Math.max(0, allowOut.length - MAX_TOLD) + Math.max(0, denyOut.length - MAX_TOLD)
  const data = {
    actor,
    allowOut: allowOut.slice(0, MAX_TOLD),
    denyOut: denyOut.slice(0, MAX_TOLD),
    ...(omitted > 0 && { omitted }),
    ...(dnsServers !== undefined && { dnsServers }),
    ...(egressProxy !== undefined && { egressProxy: egressProxy.address }),
    ...(rules !== undefined && { rules: Object.keys(rules) }),
    ...(allow_internet_access !== undefined && { allowInternetAccess: allow_internet_access }),
  }
  await announce(tx, ref, { teamId, kind: 'sandbox.network_changed', data })
  return changed.egress_version
}

async function putInForce(parts: LifecycleParts, { ref, version }: { readonly ref: SandboxRef; readonly version: number }): Promise<void> {
  try {
    await parts.changes.until(
      ref.sandboxId,
      async () => {
        const failure = await applyEgress(parts, ref).then(() => undefined, toFailure)
        // Also after a failure: another update may have been put in force, or the sandbox was killed.
        if (await isApplied(parts.database.db, ref, version)) return ref
        if (failure !== undefined) throw failure
        return undefined
      },
      { timeoutMs: APPLY_WAIT_MS, outlivesClient: true },
    )
  } catch (cause) {
    throw notApplied(cause)
  }
  // Updates of the same sandbox may wait for it.
  parts.changes.notify(ref.sandboxId)
}

function toFailure(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error('the runtime failed', { cause })
}

/** The same request again is harmless (control-plane.md 6.11). */
function notApplied(cause: unknown): AppError {
  return new AppError('internal', 'Error applying network config to sandbox', { cause, headers: { 'should-retry': 'true' } })
}
