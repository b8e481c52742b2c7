import { Gauge, type Registry } from 'prom-client'
import type { Database } from '@sandyard/db/database'

/** The connections of this server to the database, and what waits before it takes one. */
export function registerPoolGauges(registry: Registry, database: Database): void {
  const connections = new Gauge({
    name: 'sandyard_database_connections',
    help: 'Connections of this server to the database: used, idle.',
    labelNames: ['state'],
    registers: [registry],
    collect: () => {
      const { open, idle } = database.pool
      connections.set({ state: 'used' }, open - idle)
      connections.set({ state: 'idle' }, idle)
    },
  })
  const limit: Gauge = new Gauge({
    name: 'sandyard_database_connection_limit',
    help: 'Connections that this server may open (SANDYARD_API_DB_CONNECTIONS).',
    registers: [registry],
    collect: () => limit.set(database.pool.limit),
  })
  const waiting: Gauge = new Gauge({
    name: 'sandyard_database_waiting_queries',
    help: 'Queries and transactions of this server that wait for a connection.',
    registers: [registry],
    collect: () => waiting.set(database.pool.waiting),
  })
  const turns: Gauge = new Gauge({
    name: 'sandyard_database_waiting_turns',
    help: 'Transactions of this server that wait, without a connection, for earlier ones of their team.',
    registers: [registry],
    collect: () => turns.set(database.turns.all),
  })
  const most: Gauge = new Gauge({
    name: 'sandyard_database_waiting_turns_of_team',
    help: 'The same of the team with the most: above 512 its requests are refused with 429.',
    registers: [registry],
    collect: () => most.set(database.turns.most),
  })
}
