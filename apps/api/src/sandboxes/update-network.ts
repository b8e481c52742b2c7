import { sql } from 'kysely'
import type { SandboxNetworkUpdate } from '@sandyard/api-contract/sandboxes/network'
import type { Database, Tx } from '@sandyard/db/database'
import type { Actor } from '../events/actor.ts'
import { UnservedFieldError } from '../metrics/unserved-field.ts'
import { checkEgressLists } from './network/check-egress-lists.ts'
import { checkEgressProxy } from './network/check-egress-proxy.ts'
import { unservedEgressField } from './network/check-network.ts'
import { checkRules } from './network/check-rules.ts'
import { toStoredNetwork } from './network/stored-network.ts'
import { sandboxNotRunning } from './sandbox-errors.ts'
import { parseSandboxId } from './sandbox-id.ts'
import { findSandbox } from './sandbox-queries.ts'
import { announce } from './sandbox-state.ts'

export interface NetworkRequest {
  readonly givenId: string
  /** Replaces the egress part; absent fields are cleared. An absent `allow_internet_access` keeps the stored flag. */
  readonly update: SandboxNetworkUpdate
  readonly actor: Actor
}

/**
 * Replaces the egress policy of a running sandbox (control-plane.md 6.11).
 *
 * @throws AppError of control-plane.md 6.11 and 18.3-18.6; UnservedFieldError for a policy that nothing enforces yet
 */
export async function updateNetwork(database: Database, teamId: string, { givenId, update, actor }: NetworkRequest): Promise<void> {
  const sandboxId = parseSandboxId(givenId)
  checkEgressLists(update)
  checkEgressProxy(update.egressProxy)
  const row = await findSandbox(database.db, teamId, sandboxId)
  if (row?.state !== 'running') throw sandboxNotRunning(givenId, row?.state)
  checkRules(update.rules, row.envd_version ?? undefined)
  const unserved = update.allow_internet_access === false ? 'allow_internet_access' : unservedEgressField(update)
  if (unserved !== undefined) throw new UnservedFieldError(unserved)
  if (await database.transaction((tx) => replace(tx, { teamId, sandboxId, update, actor }))) return
  const now = await findSandbox(database.db, teamId, sandboxId)
  throw sandboxNotRunning(givenId, now?.state)
}

interface Replacement extends Pick<NetworkRequest, 'update' | 'actor'> {
  readonly teamId: string
  readonly sandboxId: string
}

/** False when the sandbox does not run. */
async function replace(tx: Tx, { teamId, sandboxId, update, actor }: Replacement): Promise<boolean> {
  const { allowOut } = toStoredNetwork(update)
  const { allow_internet_access } = update
  const changed = await tx
    .updateTable('sandbox')
    .set({
      network: sql`network - 'allowOut' - 'denyOut' || ${JSON.stringify({ allowOut })}::jsonb`,
      ...(allow_internet_access !== undefined && { allow_internet_access }),
    })
    .where('sandbox_id', '=', sandboxId)
    .where('team_id', '=', teamId)
    .where('state', '=', 'running')
    .returning('incarnation')
    .executeTakeFirst()
  if (changed === undefined) return false
  const data = {
    actor,
    allowOut: allowOut ?? [],
    ...(allow_internet_access !== undefined && { allowInternetAccess: allow_internet_access }),
  }
  await announce(tx, { sandboxId, incarnation: changed.incarnation }, { teamId, kind: 'sandbox.network_changed', data })
  return true
}
