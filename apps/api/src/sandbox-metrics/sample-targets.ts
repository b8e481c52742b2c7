import type { Db } from '@sandyard/db/database'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import type { Daemon } from '../daemon/daemon.ts'
import type { DaemonLogTarget } from '../sandbox-logs/append-daemon-logs.ts'

/** A running sandbox that is to be sampled. */
export interface SampleTarget extends DaemonLogTarget {
  readonly daemon: Daemon
  readonly diskBytes: number
}

const PAGE = 1000
const MIB = 1024 ** 2

/** Every running sandbox, read page by page. */
export async function listSampleTargets(db: Db, tokenSeed: Secret): Promise<SampleTarget[]> {
  const targets: SampleTarget[] = []
  let after = ''
  while (true) {
    const page = await selectPage(db, after)
    for (const row of page) {
      const { sandbox_id: sandboxId, endpoint_host: host, endpoint_daemon_port: daemonPort, boot, place } = row
      // A running sandbox has an endpoint; the types of the columns do not say so.
      if (host === null || daemonPort === null) continue
      targets.push({
        sandboxId,
        teamId: row.team_id,
        diskBytes: row.disk_mib * MIB,
        place: boot === null || place === null ? undefined : { boot, place },
        daemon: { endpoint: { host, daemonPort }, accessToken: row.is_secure ? sandboxAccessToken(tokenSeed, sandboxId) : undefined },
      })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return targets
    after = last.sandbox_id
  }
}

function selectPage(db: Db, after: string) {
  return db
    .selectFrom('sandbox')
    .innerJoin('build', 'build.build_id', 'sandbox.build_id')
    .leftJoin('sandbox_log_cursor as stored', 'stored.sandbox_id', 'sandbox.sandbox_id')
    .select(['sandbox.sandbox_id', 'sandbox.team_id', 'endpoint_host', 'endpoint_daemon_port', 'is_secure', 'disk_mib'])
    .select(['stored.boot', 'stored.place'])
    .where('sandbox.state', '=', 'running')
    .where('sandbox.sandbox_id', '>', after)
    .orderBy('sandbox.sandbox_id')
    .limit(PAGE)
    .execute()
}
