import type { Database, Db } from '@sandyard/db/database'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Daemon } from '../../daemon/daemon.ts'
import { sandboxNotFound } from '../../sandboxes/sandbox-errors.ts'
import { accessToken } from '../../sandboxes/start/sandbox-spec.ts'

export interface RelayParts {
  readonly database: Pick<Database, 'db'>
  readonly tokenSeed: Secret
}

/** The reason of a `conflict`: the sandbox will not run again. */
export const ENDED = 'sandbox_ended'

/** A running sandbox whose daemon may be asked. */
export interface ReachableSandbox {
  readonly sandboxId: string
  readonly teamId: string
  readonly incarnation: number
  /** Whose processes have no other user. */
  readonly defaultUser: string
  /** When this run of it began. */
  readonly since: Date
  readonly daemon: Daemon
}

/**
 * A running sandbox of the team. The address is that of its row, so a request cannot name another one. Nothing is woken.
 *
 * @throws AppError `not_found` for an unknown sandbox, `conflict` for one that does not run
 */
export async function getReachable({ database, tokenSeed }: RelayParts, teamId: string, sandboxId: string): Promise<ReachableSandbox> {
  const row = await database.db
    .selectFrom('sandbox')
    .innerJoin('build', 'build.build_id', 'sandbox.build_id')
    .select([
      'sandbox_id',
      'incarnation',
      'state',
      'endpoint_host',
      'endpoint_daemon_port',
      'is_secure',
      'started_at',
      'build.default_user',
    ])
    .where('sandbox_id', '=', sandboxId)
    .where('team_id', '=', teamId)
    .executeTakeFirst()
  if (row === undefined) {
    throw await absence(database.db, teamId, sandboxId)
  }
  const { state, endpoint_host: host, endpoint_daemon_port: daemonPort } = row
  if (state !== 'running' || host === null || daemonPort === null) {
    throw new AppError('conflict', `The sandbox is ${state === 'killing' ? 'ending' : state}: this works while it runs`)
  }
  const source = { sandboxId, isSecure: row.is_secure }
  return {
    sandboxId,
    teamId,
    incarnation: row.incarnation,
    defaultUser: row.default_user,
    since: row.started_at ?? new Date(),
    daemon: { endpoint: { host, daemonPort }, accessToken: accessToken(source, tokenSeed) },
  }
}

/** The error for a sandbox without a row: `conflict` for one that has ended, else `not_found`. */
export async function absence(db: Db, teamId: string, sandboxId: string): Promise<AppError> {
  if (await hasEnded(db, teamId, sandboxId)) return new AppError('conflict', 'The sandbox has ended', { reason: ENDED })
  return sandboxNotFound(sandboxId)
}

async function hasEnded(db: Db, teamId: string, sandboxId: string): Promise<boolean> {
  const row = await db
    .selectFrom('sandbox_history')
    .select('sandbox_id')
    .where('sandbox_id', '=', sandboxId)
    .where('team_id', '=', teamId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
