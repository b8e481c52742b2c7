import type { Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** The raw states of a build; control-plane.md 17.3 groups them and gives each its wire name. */
export type BuildStatus = 'pending' | 'waiting' | 'in_progress' | 'building' | 'snapshotting' | 'uploaded' | 'success' | 'ready' | 'failed'

/** The states in which a build can be used. */
export const READY_BUILD_STATUSES = ['uploaded', 'success', 'ready'] as const satisfies readonly BuildStatus[]

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
}
