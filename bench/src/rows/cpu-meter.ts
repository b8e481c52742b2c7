import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Db } from '../../../packages/db/src/database.ts'

export interface Cost {
  readonly wallMs: number
  /** Of this process and of Postgres together. */
  readonly cpuMs: number
}

/**
 * Measures `work`: elapsed time, and the CPU time of this process and of the backends of its database. The backends are read from `/proc` of
 * this machine, so Postgres runs on it.
 */
export async function measureCost(db: Db, work: () => Promise<unknown>): Promise<Cost> {
  const backends = await readBackends(db)
  const own = process.cpuUsage()
  const start = performance.now()
  await work()
  const wallMs = performance.now() - start
  const { user, system } = process.cpuUsage(own)
  const after = await readBackends(db)
  const postgresMs = [...after].reduce((sum, [pid, ms]) => sum + ms - (backends.get(pid) ?? 0), 0)
  return { wallMs, cpuMs: (user + system) / 1000 + postgresMs }
}

/** CPU milliseconds by process id, in the nanoseconds of the scheduler: the clock ticks of `/proc/<pid>/stat` are too coarse. */
async function readBackends(db: Db): Promise<Map<number, number>> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity where datname = current_database()`.execute(db)
  const times = rows.map(async ({ pid }) => {
    const [ns = '0'] = (await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0')).split(' ')
    return [pid, Number(ns) / 1e6] as const
  })
  return new Map(await Promise.all(times))
}
