import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRef } from '@sandyard/runtime/types'
import type { Daemon } from '../daemon/daemon.ts'
import { MAX_LOG_ENTRIES } from '../daemon/daemon-logs.ts'
import { readReports } from '../daemon/read-reports.ts'
import { appendDaemonLogs, type DaemonLogTarget } from './append-daemon-logs.ts'

export interface CollectParts {
  readonly database: Database
  readonly tokenSeed: Secret
  readonly log: Logger
}

const TIMEOUT_MS = 500

/**
 * Stores the last log entries of a sandbox's daemon, which end with the daemon: for the moment before a pause or a kill. Best effort within
 * half a second; never throws.
 */
export async function collectLogs(
  { database, tokenSeed, log }: CollectParts,
  ref: SandboxRef,
  timeoutMs: number = TIMEOUT_MS,
): Promise<void> {
  try {
    const found = await findTarget(database.db, ref, tokenSeed)
    if (found === undefined) return
    const { logs } = await readReports(found.daemon, {
      place: found.target.place,
      maxEntries: MAX_LOG_ENTRIES,
      withMetrics: false,
      timeoutMs,
    })
    if (logs !== undefined) await appendDaemonLogs(database.db, found.target, logs)
  } catch (err) {
    log.warn({ err, ...ref }, 'the last log entries of a sandbox were not stored')
  }
}

async function findTarget(
  db: Db,
  { sandboxId, incarnation }: SandboxRef,
  tokenSeed: Secret,
): Promise<{ target: DaemonLogTarget; daemon: Daemon } | undefined> {
  const row = await db
    .selectFrom('sandbox')
    .leftJoin('sandbox_log_cursor as stored', 'stored.sandbox_id', 'sandbox.sandbox_id')
    .select(['team_id', 'endpoint_host', 'endpoint_daemon_port', 'is_secure', 'stored.boot', 'stored.place'])
    .where('sandbox.sandbox_id', '=', sandboxId)
    .where('incarnation', '=', incarnation)
    .where(sql<boolean>`endpoint_host is not null and endpoint_daemon_port is not null`)
    .$narrowType<{ endpoint_host: string; endpoint_daemon_port: number }>()
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { team_id: teamId, endpoint_host: host, endpoint_daemon_port: daemonPort, boot, place } = row
  return {
    target: { sandboxId, teamId, place: boot === null || place === null ? undefined : { boot, place } },
    daemon: { endpoint: { host, daemonPort }, accessToken: row.is_secure ? sandboxAccessToken(tokenSeed, sandboxId) : undefined },
  }
}
