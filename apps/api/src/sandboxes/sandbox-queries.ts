import { sql, type Selectable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { BuildTable } from '@sandyard/db/schema/build'
import type { SandboxState, SandboxTable } from '@sandyard/db/schema/sandbox'

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

/** A sandbox of the team, in any state. */
export async function findSandbox(db: Db, teamId: string, sandboxId: string): Promise<SandboxRow | undefined> {
  return selectSandboxes(db).where('sandbox_id', '=', sandboxId).where('sandbox.team_id', '=', teamId).executeTakeFirst()
}

/** How a new end time applies: `set` replaces it, `extend` never shortens it. */
export type EndTimeRule = 'set' | 'extend'

export interface EndTimeChange {
  readonly teamId: string
  readonly sandboxId: string
  /** From now. */
  readonly seconds: number
  readonly rule: EndTimeRule
  /** Cap counted from the start; longer requests are truncated. */
  readonly maxSeconds: number
}

/** Changes the end time of a running sandbox. False when none runs under this id. */
export async function changeEndTime(db: Db, change: EndTimeChange): Promise<boolean> {
  const asked = sql<Date>`least(clock_timestamp() + make_interval(secs => ${change.seconds}), started_at + make_interval(secs => ${change.maxSeconds}))`
  const result = await db
    .updateTable('sandbox')
    .set({ expires_at: change.rule === 'set' ? asked : sql<Date>`greatest(expires_at, ${asked})` })
    .where('sandbox_id', '=', change.sandboxId)
    .where('team_id', '=', change.teamId)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** A reservation older than this is abandoned (control-plane.md 3.3). */
export const STALE_START_SECONDS = 90

const OCCUPYING: readonly SandboxState[] = ['running', 'pausing', 'snapshotting', 'killing']

/** SQL condition: the sandbox counts against the limit of its team, as all but paused ones and stale reservations do (control-plane.md 6.2.4). */
export const isOccupied = sql<boolean>`(
  state in (${sql.join(OCCUPYING)})
  or (state = 'starting' and state_changed_at > clock_timestamp() - make_interval(secs => ${STALE_START_SECONDS}))
)`

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
