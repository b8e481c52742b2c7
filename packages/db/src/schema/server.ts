import type { ColumnType, Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** The capacity of the machine that the sandboxes of a server run on. */
export interface ServerCapacity {
  readonly cpuCount: number
  readonly memoryMib: number
  /** Concurrent builds. */
  readonly builds: number
}

/** What an administrator wants of a node: one that is not ready gets no new sandboxes (control-plane.md 13.1). */
export type WantedStatus = 'ready' | 'draining' | 'standby'

/** The last figures of a server and its host. Absent ones could not be read. */
export interface ServerVitals {
  readonly commit?: string
  readonly machine?: { readonly family: string; readonly model: string; readonly modelName: string; readonly architecture: string }
  /** Of the time since the heartbeat before. */
  readonly cpuPercent?: number
  readonly memory?: { readonly usedBytes: number; readonly totalBytes: number }
  readonly hugePages?: { readonly total: number; readonly used: number; readonly reserved: number; readonly pageBytes: number }
  /** The file system with the files of the engine. */
  readonly disk?: { readonly usedBytes: number; readonly totalBytes: number }
  /** Since the server started. */
  readonly creates?: { readonly succeeded: number; readonly failed: number }
}

export interface ServerTable {
  server_id: number
  engine_id: string
  version: string
  /** Read as an object, written as JSON text. */
  capacity: ColumnType<ServerCapacity, string, string>
  /** It shuts down. */
  is_draining: Generated<boolean>
  /** A UUID of this run of the server. */
  service_instance: string | null
  wanted_status: Generated<WantedStatus>
  /** Null: at its start. */
  status_changed_at: Date | null
  /** Read as an object, written as JSON text. */
  vitals: ColumnType<ServerVitals, string | undefined, string>
  started_at: DefaultedTime
  heartbeat_at: DefaultedTime
  /** After this time other servers treat it as dead. */
  lease_until: Date
}

export const serverColumns: Columns<ServerTable> = {
  server_id: 'integer',
  engine_id: 'text',
  version: 'text',
  capacity: 'jsonb',
  is_draining: 'boolean',
  service_instance: 'uuid null',
  wanted_status: 'text',
  status_changed_at: 'timestamp(3) with time zone null',
  vitals: 'jsonb',
  started_at: 'timestamp(3) with time zone',
  heartbeat_at: 'timestamp(3) with time zone',
  lease_until: 'timestamp(3) with time zone',
}
