import type { ColumnType } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

export type SandboxState = 'starting' | 'running' | 'pausing' | 'paused' | 'snapshotting' | 'killing'

/** A JSON object of texts: read as an object, written as JSON text. */
export type JsonTexts = ColumnType<Record<string, string>, string | undefined, string>

export interface SandboxTable {
  sandbox_id: string
  /** The number of this start of the id, from 1. */
  incarnation: number
  team_id: string
  template_id: string
  build_id: string
  alias: string | null
  state: SandboxState
  state_changed_at: DefaultedTime
  /** The address of the daemon while the sandbox runs. */
  endpoint_host: string | null
  endpoint_daemon_port: number | null
  is_secure: boolean
  metadata: JsonTexts
  /** Null when the request did not set it. */
  allow_internet_access: boolean | null
  created_at: DefaultedTime
  started_at: Date | null
  /** The end time; set once it runs. */
  expires_at: Date | null
  /** The server that starts it. */
  server_id: number | null
  /** Why it ends; set with the state `killing`. */
  end_reason: string | null
}

export const sandboxColumns: Columns<SandboxTable> = {
  sandbox_id: 'text',
  incarnation: 'integer',
  team_id: 'uuid',
  template_id: 'text',
  build_id: 'uuid',
  alias: 'text null',
  state: 'text',
  state_changed_at: 'timestamp(3) with time zone',
  endpoint_host: 'text null',
  endpoint_daemon_port: 'integer null',
  is_secure: 'boolean',
  metadata: 'jsonb',
  allow_internet_access: 'boolean null',
  created_at: 'timestamp(3) with time zone',
  started_at: 'timestamp(3) with time zone null',
  expires_at: 'timestamp(3) with time zone null',
  server_id: 'integer null',
  end_reason: 'text null',
}
