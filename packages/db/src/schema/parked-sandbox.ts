import type { Columns, DefaultedTime } from '../column.ts'

export type ParkedState = 'parking' | 'parked' | 'removing'

/** A sandbox of the warm pool. It belongs to no team; a create claims it and moves it to `sandbox`. */
export interface ParkedSandboxTable {
  sandbox_id: string
  incarnation: number
  template_id: string
  build_id: string
  /** A digest of the daemon and the settings that it was started with. */
  generation: string
  state: ParkedState
  state_changed_at: DefaultedTime
  /** The server that started it. */
  server_id: number
  /** The address of the daemon; set while it is parked. */
  endpoint_host: string | null
  endpoint_daemon_port: number | null
  /** What it counts for in the memory of the pool. */
  memory_mib: number
  /** No create claims it after this time. */
  expires_at: Date
}

export const parkedSandboxColumns: Columns<ParkedSandboxTable> = {
  sandbox_id: 'text',
  incarnation: 'integer',
  template_id: 'text',
  build_id: 'uuid',
  generation: 'text',
  state: 'text',
  state_changed_at: 'timestamp(3) with time zone',
  server_id: 'integer',
  endpoint_host: 'text null',
  endpoint_daemon_port: 'integer null',
  memory_mib: 'integer',
  expires_at: 'timestamp(3) with time zone',
}
