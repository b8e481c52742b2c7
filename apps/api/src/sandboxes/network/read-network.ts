import type { Db } from '@sandyard/db/database'
import type { StoredNetwork } from '@sandyard/db/schema/sandbox'
import type { SandboxRef } from '@sandyard/runtime/types'

export interface CurrentNetwork {
  readonly network: StoredNetwork
  /** Null when it was never set. */
  readonly allowInternetAccess: boolean | null
}

/** The network of a sandbox as of now. While it is in a transition nothing changes it. @throws Error when the sandbox is gone */
export async function readNetwork(db: Db, { sandboxId, incarnation }: SandboxRef): Promise<CurrentNetwork> {
  const row = await db
    .selectFrom('sandbox')
    .select(['network', 'allow_internet_access'])
    .where('sandbox_id', '=', sandboxId)
    .where('incarnation', '=', incarnation)
    .executeTakeFirstOrThrow()
  return { network: row.network, allowInternetAccess: row.allow_internet_access }
}
