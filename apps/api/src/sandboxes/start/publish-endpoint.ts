import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { CHANNELS } from '@sandyard/db/notify'
import type { EgressPolicy, SandboxEndpoint, SandboxRef } from '@sandyard/runtime/types'

/**
 * Stores the address of a sandbox whose programs run before its row is `running`: the egress gateway finds the sandbox of a connection by it,
 * and a start command may need a domain. Other sandboxes get their address with the state.
 */
export async function publishEndpoint(
  db: Db,
  { sandboxId, incarnation }: SandboxRef,
  { endpoint, egress }: { readonly endpoint: SandboxEndpoint; readonly egress: EgressPolicy },
): Promise<void> {
  if (egress.gateway === 'none' && !egress.filterLookups) return
  await sql`
    with published as (
      update sandbox set endpoint_host = ${endpoint.host}, endpoint_daemon_port = ${endpoint.daemonPort}
      where sandbox_id = ${sandboxId} and incarnation = ${incarnation} and state in ('starting', 'resuming')
      returning sandbox_id
    )
    select pg_notify(${CHANNELS.routeChanged}, sandbox_id) from published
  `.execute(db)
}
