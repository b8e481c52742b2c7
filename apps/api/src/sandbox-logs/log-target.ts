import type { Selectable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import type { SandboxTable } from '@sandyard/db/schema/sandbox'
import type { Secret } from '@sandyard/kit/config/secret'
import type { Daemon } from '../daemon/daemon.ts'
import type { LogPlace } from '../daemon/daemon-logs.ts'

/** A sandbox whose daemon has log entries to read. */
export interface LogTarget {
  readonly sandboxId: string
  readonly teamId: string
  /** The place after which entries are read; undefined when none were. */
  readonly place: LogPlace | undefined
  readonly daemon: Daemon
}

type LogTargetRow = Pick<Selectable<SandboxTable>, 'sandbox_id' | 'team_id' | 'is_secure'> & {
  readonly endpoint_host: string
  readonly endpoint_daemon_port: number
  readonly boot: string | null
  readonly place: number | null
}

/** The sandboxes that have a daemon, each with the place up to which its log is stored. */
export function selectLogTargets(db: Db) {
  return db
    .selectFrom('sandbox')
    .leftJoin('sandbox_log_cursor as stored', 'stored.sandbox_id', 'sandbox.sandbox_id')
    .select(['sandbox.sandbox_id', 'sandbox.team_id', 'endpoint_host', 'endpoint_daemon_port', 'is_secure'])
    .select(['stored.boot', 'stored.place'])
    .where('endpoint_host', 'is not', null)
    .where('endpoint_daemon_port', 'is not', null)
    .$narrowType<{ endpoint_host: string; endpoint_daemon_port: number }>()
}

export function toLogTarget(row: LogTargetRow, tokenSeed: Secret): LogTarget {
  const { sandbox_id: sandboxId, endpoint_host: host, endpoint_daemon_port: daemonPort, boot, place } = row
  return {
    sandboxId,
    teamId: row.team_id,
    place: boot === null || place === null ? undefined : { boot, place },
    daemon: { endpoint: { host, daemonPort }, accessToken: row.is_secure ? sandboxAccessToken(tokenSeed, sandboxId) : undefined },
  }
}
