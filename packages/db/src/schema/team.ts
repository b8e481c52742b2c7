import type { Generated } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

export interface TeamTable {
  id: Generated<string>
  name: string
  /** The namespace of the team's template names; unique over all teams. */
  slug: string
  email: string
  /** Cannot authenticate at all. */
  is_banned: Generated<boolean>
  /** May only read and delete (control-plane.md 1.10). */
  is_blocked: Generated<boolean>
  blocked_reason: string | null
  /** The limits of this team; null is that of the settings. */
  max_sandboxes: number | null
  max_lifetime_seconds: number | null
  max_builds: number | null
  max_cpu_count: number | null
  max_memory_mib: number | null
  max_disk_mib: number | null
  max_stored_bytes: number | null
  max_paused_sandboxes: number | null
  max_snapshots: number | null
  max_templates: number | null
  creates_per_minute: number | null
  create_burst: number | null
  /** How much of the burst of creates it had used at that time; null before the first one. */
  creates_used: number | null
  creates_counted_at: Date | null
  created_at: CreatedAt
}

export const teamColumns: Columns<TeamTable> = {
  id: 'uuid',
  name: 'text',
  slug: 'text',
  email: 'text',
  is_banned: 'boolean',
  is_blocked: 'boolean',
  blocked_reason: 'text null',
  max_sandboxes: 'integer null',
  max_lifetime_seconds: 'integer null',
  max_builds: 'integer null',
  max_cpu_count: 'integer null',
  max_memory_mib: 'integer null',
  max_disk_mib: 'integer null',
  max_stored_bytes: 'bigint null',
  max_paused_sandboxes: 'integer null',
  max_snapshots: 'integer null',
  max_templates: 'integer null',
  creates_per_minute: 'integer null',
  create_burst: 'integer null',
  creates_used: 'double precision null',
  creates_counted_at: 'timestamp with time zone null',
  created_at: 'timestamp with time zone',
}
