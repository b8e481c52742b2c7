import type { ColumnType, Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** The raw states of a build; control-plane.md 17.3 groups them and gives each its wire name. */
export type BuildStatus = 'pending' | 'waiting' | 'in_progress' | 'building' | 'snapshotting' | 'uploaded' | 'success' | 'ready' | 'failed'

/** The states in which a build can be used. */
export const READY_BUILD_STATUSES = ['uploaded', 'success', 'ready'] as const satisfies readonly BuildStatus[]

/** The rules that the steps of a build follow (control-plane.md 10.5, 11.3). */
export type BuilderVersion = 'v1' | 'v2.0.0' | 'v2.1.0'

/** As whom, where and with what a command runs. */
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
  /** What the runtime starts; set once the build is ready. */
  image: string | null
  default_user: string
  default_workdir: string
  envd_version: string | null
  created_at: DefaultedTime
  updated_at: DefaultedTime
  finished_at: Date | null
  /** Null for images that were not built here. */
  builder_version: BuilderVersion | null
  /** Why it failed. */
  reason_message: string | null
  /** `base`, the number of a step from 1, or `finalize`. */
  reason_step: string | null
  /** The variables of every process in its sandboxes. */
  env: ColumnType<Record<string, string>, string | undefined, string>
  start_cmd: string | null
  ready_cmd: string | null
  /** What the start command runs in; null means the defaults of the build. */
  start_context: ColumnType<CommandContext | null, string | null | undefined, string | null>
  dockerfile: string | null
  /** Started by what registered it: asking for its start again changes nothing. */
  starts_itself: Generated<boolean>
  /** The newest line of its log. */
  log_count: Generated<number>
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
}
