import type { ColumnType, Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** The raw states of a build; control-plane.md 17.3 groups them and gives each its wire name. */
export type BuildStatus = 'pending' | 'waiting' | 'in_progress' | 'building' | 'snapshotting' | 'uploaded' | 'success' | 'ready' | 'failed'

/** The states of a usable build. */
export const READY_BUILD_STATUSES = ['uploaded', 'success', 'ready'] as const satisfies readonly BuildStatus[]

/** The states of an unfinished build. */
export const UNFINISHED_BUILD_STATUSES = ['pending', 'waiting', 'in_progress', 'building'] as const satisfies readonly BuildStatus[]

/** The rules for the steps of a build (control-plane.md 10.5, 11.3). */
export type BuilderVersion = 'v1' | 'v2.0.0' | 'v2.1.0'

/** The user, directory and variables of a command. */
export interface CommandContext {
  readonly user: string
  /** Undefined: the user's home. */
  readonly workdir?: string
  readonly env: Readonly<Record<string, string>>
}

export interface BuildTable {
  build_id: Generated<string>
  template_id: string
  status: BuildStatus
  cpu_count: number
  memory_mib: number
  disk_mib: number
  /** The image for sandboxes; set once the build is ready. */
  image: string | null
  default_user: string
  default_workdir: string
  envd_version: string | null
  created_at: DefaultedTime
  updated_at: DefaultedTime
  finished_at: Date | null
  /** Null for images that this server did not build. */
  builder_version: BuilderVersion | null
  /** The reason of a failure. */
  reason_message: string | null
  /** `base`, the number of a step from 1, or `finalize`. */
  reason_step: string | null
  /** The variables of every process in its sandboxes. */
  env: ColumnType<Record<string, string>, string | undefined, string>
  start_cmd: string | null
  ready_cmd: string | null
  /** The context of the start command; null means the defaults of the build. */
  start_context: ColumnType<CommandContext | null, string | null | undefined, string | null>
  dockerfile: string | null
  /** The registration started the build: a start request changes nothing. */
  starts_itself: Generated<boolean>
  /** The number of the newest log line. */
  log_count: Generated<number>
  /** What the messages of the log take in UTF-8. */
  log_bytes: Generated<number>
  /** The sandbox that this snapshot was taken from; null for the result of a build. */
  source_sandbox_id: string | null
  /** The snapshot as the runtime describes it. Only the runtime reads its fields. */
  snapshot: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>
  /** What its files take on the engine beyond the image that it is based on. */
  snapshot_bytes: number | null
}

export const buildColumns: Columns<BuildTable> = {
  build_id: 'uuid',
  template_id: 'text',
  status: 'text',
  cpu_count: 'integer',
  memory_mib: 'integer',
  disk_mib: 'integer',
  image: 'text null',
  default_user: 'text',
  default_workdir: 'text',
  envd_version: 'text null',
  created_at: 'timestamp(3) with time zone',
  updated_at: 'timestamp(3) with time zone',
  finished_at: 'timestamp(3) with time zone null',
  builder_version: 'text null',
  reason_message: 'text null',
  reason_step: 'text null',
  env: 'jsonb',
  start_cmd: 'text null',
  ready_cmd: 'text null',
  start_context: 'jsonb null',
  dockerfile: 'text null',
  starts_itself: 'boolean',
  log_count: 'integer',
  log_bytes: 'bigint',
  source_sandbox_id: 'text null',
  snapshot: 'jsonb null',
  snapshot_bytes: 'bigint null',
}
