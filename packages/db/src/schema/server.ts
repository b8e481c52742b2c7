import type { ColumnType, Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** The capacity of the host of a server. */
export interface ServerCapacity {
  readonly cpuCount: number
  readonly memoryMib: number
  /** Concurrent builds. */
  readonly builds: number
}

export interface ServerTable {
  server_id: number
  engine_id: string
  version: string
  /** Read as an object, written as JSON text. */
  capacity: ColumnType<ServerCapacity, string, string>
  is_draining: Generated<boolean>
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
  started_at: 'timestamp(3) with time zone',
  heartbeat_at: 'timestamp(3) with time zone',
  lease_until: 'timestamp(3) with time zone',
}
