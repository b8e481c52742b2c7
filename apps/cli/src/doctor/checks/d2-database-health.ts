import { sql } from 'kysely'
import { fail, warn, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'

const TRIES = 15
const SLOW_MS = 20
/** Each server listens on connections of its own: the control plane on two, the proxy and the gateway on one each; one migrates. */
const LISTENERS = 5
/** They grow with every sandbox, and are emptied by their age. */
const BUSY_TABLES = ['event', 'sandbox_log', 'sandbox_metric', 'build_log', 'sandbox_egress']

export const databaseHealth: Check = {
  id: 'D2',
  title: 'Database health',
  checks:
    'median of `select 1` over 20 ms warns; fewer free connections than the pools of all servers need warn; `fsync` off fails; autovacuum off, for the server or a table of ' +
    'events, logs or metrics, warns',
  why: 'Every create waits for some ten queries; without fsync a power cut loses the database; without autovacuum tables grow without end.',
  todo: 'Put Postgres near the servers, raise max_connections or put a pool in front, and set fsync and autovacuum to on.',
  async run(facts): Promise<Finding> {
    const medianMs = await measure(facts)
    const settings = await readSettings(facts)
    const off = await tablesWithoutVacuum(facts)
    const connections = await countConnections(facts, settings)
    return worstOf(
      [
        settings['fsync'] === 'off' ? fail('fsync is off') : undefined,
        medianMs > SLOW_MS ? warn(`a query takes ${medianMs.toFixed(0)} ms`) : undefined,
        connections.needed > connections.free
          ? warn(`${connections.needed} connections are needed, ${connections.free} are free for Sandyard`)
          : undefined,
        settings['autovacuum'] === 'off' ? warn('autovacuum is off') : undefined,
        off.length > 0 ? warn(`autovacuum is off for ${off.join(', ')}`) : undefined,
      ],
      `a query takes ${medianMs.toFixed(1)} ms; ${connections.needed} of ${connections.free} connections are needed; fsync and autovacuum are on`,
    )
  },
}

async function measure({ database }: Facts): Promise<number> {
  const times: number[] = []
  for (let tries = 0; tries < TRIES; tries += 1) {
    const startedAt = performance.now()
    await database.read((db) => sql`select 1`.execute(db))
    times.push(performance.now() - startedAt)
  }
  return times.sort((left, right) => left - right)[Math.floor(TRIES / 2)] ?? 0
}

async function readSettings({ database }: Facts): Promise<Record<string, string>> {
  const { rows } = await database.read((db) =>
    sql<{ name: string; setting: string }>`
      select name, setting from pg_settings
      where name in ('fsync', 'autovacuum', 'max_connections', 'superuser_reserved_connections')`.execute(db),
  )
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
}

async function tablesWithoutVacuum({ database }: Facts): Promise<string[]> {
  const { rows } = await database.read((db) =>
    sql<{ name: string }>`
      select relname as name from pg_class
      where oid in (select to_regclass(busy.name) from unnest(${BUSY_TABLES}::text[]) as busy (name))
      and reloptions && array['autovacuum_enabled=false', 'autovacuum_enabled=off', 'autovacuum_enabled=0']`.execute(db),
  )
  return rows.map(({ name }) => name)
}

async function countConnections({ database, settings }: Facts, values: Record<string, string>): Promise<{ needed: number; free: number }> {
  const { rows } = await database.read((db) =>
    sql<{ others: number; servers: number }>`
      select (select count(*)::int from pg_stat_activity
              where backend_type = 'client backend' and application_name not like 'sandyard%') as others,
             (select count(*)::int from server where lease_until > clock_timestamp()) as servers`.execute(db),
  )
  const { others = 0, servers = 0 } = rows[0] ?? {}
  const ofOne = settings.maxConnections + settings.proxyConnections + settings.egressConnections + LISTENERS
  const free = Number(values['max_connections']) - Number(values['superuser_reserved_connections']) - others
  return { needed: ofOne * Math.max(1, servers), free }
}
