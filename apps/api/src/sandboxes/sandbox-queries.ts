import { sql, type Selectable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { BuildTable } from '@sandyard/db/schema/build'
import type { SandboxState, SandboxTable } from '@sandyard/db/schema/sandbox'
import { secondsAgo } from '@sandyard/db/statement-time'

/** A sandbox with the sizes of its build. */
export type SandboxRow = Selectable<SandboxTable> & Pick<Selectable<BuildTable>, 'cpu_count' | 'memory_mib' | 'disk_mib' | 'envd_version'>

/** A sandbox that has started: its times are set. */
export type LiveSandboxRow = SandboxRow & { readonly started_at: Date; readonly expires_at: Date }

export function isLive(row: SandboxRow): row is LiveSandboxRow {
  return row.started_at !== null && row.expires_at !== null
}

export function selectSandboxes(db: Db) {
  return db
    .selectFrom('sandbox')
    .innerJoin('build', 'build.build_id', 'sandbox.build_id')
    .selectAll('sandbox')
    .select(['build.cpu_count', 'build.memory_mib', 'build.disk_mib', 'build.envd_version'])
}

/**
 * A sandbox of the team, in any state. One that a request has killed is absent, although the engine may still be removing it: the request
 * was answered.
 */
export async function findSandbox(db: Db, teamId: string, sandboxId: string): Promise<SandboxRow | undefined> {
  return selectSandboxes(db)
    .where('sandbox_id', '=', sandboxId)
    .where('sandbox.team_id', '=', teamId)
    .where((eb) => eb.or([eb('state', '<>', 'killing'), eb('end_reason', 'is distinct from', 'killed')]))
    .executeTakeFirst()
}

/** A reservation older than this is abandoned (control-plane.md 3.3). */
export const STALE_START_SECONDS = 90

/** The removal of an ended sandbox that takes longer counts against the limit, so that they cannot pile up. */
const SLOW_KILL_SECONDS = 10
const OCCUPYING: readonly SandboxState[] = ['running', 'pausing', 'resuming', 'snapshotting']

/**
 * SQL condition: the sandbox counts against the limit of its team, as all but paused ones, stale reservations and fresh ends do
 * (control-plane.md 6.2.4).
 */
export const isOccupied = sql<boolean>`(
  state in (${sql.join(OCCUPYING)})
  or (state = 'starting' and state_changed_at > ${secondsAgo(STALE_START_SECONDS)})
  or (state = 'killing' and state_changed_at < ${secondsAgo(SLOW_KILL_SECONDS)})
)`

/**
 * SQL condition: the sandbox counts against the limit of paused ones. One that pauses at its end time has its place from the create on, so that this pause is
 * never refused; a resume may fail, so it keeps the place.
 */
export const isKept = sql<boolean>`(state in ('pausing', 'paused', 'resuming') or (auto_pause and state <> 'killing'))`

/** The sandboxes that count against the team's limit. */
export async function countOccupied(db: Db, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('sandbox')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where(isOccupied)
    .executeTakeFirstOrThrow()
  return count
}
