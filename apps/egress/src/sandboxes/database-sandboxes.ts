import type { Database, Db } from '@sandyard/db/database'
import { listen } from '@sandyard/db/listen'
import { CHANNELS } from '@sandyard/db/notify'
import type { SandboxWatcher } from '@sandyard/db/rows/watch-sandboxes'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { compilePolicy } from '../policy/compile-policy.ts'
import type { EgressSandbox } from './sandbox.ts'

/** The source of sandboxes: the database of the installation. */
export interface SandboxSource {
  read(addresses: readonly string[]): Promise<ReadonlyMap<string, EgressSandbox>>
  /** Calls `watcher`, and `onSecretChanged` with the id of a team, until disposed. */
  watch(watcher: SandboxWatcher, onSecretChanged: (teamId: string) => void): AsyncDisposable
}

/** The states in which user code may run. A frozen sandbox sends nothing, but its connections stay until its row says that it is paused. */
const RUNS: readonly SandboxState[] = ['starting', 'running', 'pausing', 'resuming', 'snapshotting']

export function databaseSandboxes(database: Database, log: Logger): SandboxSource {
  return {
    read: (addresses) => readSandboxes(database.db, addresses, log),
    watch: (watcher, onSecretChanged) =>
      listen({
        url: database.directUrl,
        applicationName: 'sandyard-egress-sandboxes',
        channels: [CHANNELS.routeChanged, CHANNELS.secretChanged],
        log,
        onNotification: (channel, id) => (channel === CHANNELS.secretChanged ? onSecretChanged(id) : watcher.changed(id)),
        onRefresh: () => watcher.refresh(),
        onLost: () => watcher.lost(),
      }),
  }
}

async function readSandboxes(db: Db, addresses: readonly string[], log: Logger): Promise<Map<string, EgressSandbox>> {
  const rows = await db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'team_id', 'incarnation', 'started_at', 'endpoint_host', 'network', 'allow_internet_access', 'iam'])
    .where('endpoint_host', 'in', addresses)
    .where('state', 'in', RUNS)
    .$narrowType<{ endpoint_host: string }>()
    .execute()
  const found = new Map<string, EgressSandbox>()
  const ambiguous = new Set<string>()
  for (const row of rows) {
    const address = row.endpoint_host
    if (found.has(address)) ambiguous.add(address)
    found.set(address, {
      sandboxId: row.sandbox_id,
      teamId: row.team_id,
      address,
      incarnation: row.incarnation,
      startedAt: row.started_at?.getTime(),
      policy: compilePolicy(row.network, row.allow_internet_access),
      identityTokens: new Map(Object.entries(row.iam).map(([name, { audience }]) => [name, audience])),
    })
  }
  for (const address of ambiguous) {
    log.warn({ address }, 'two running sandboxes have the same address: neither is served')
    found.delete(address)
  }
  return found
}
