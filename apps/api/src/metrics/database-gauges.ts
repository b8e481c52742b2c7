import { Gauge, type Registry } from 'prom-client'
import type { Database } from '@sandyard/db/database'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { resultWithin } from '@sandyard/kit/async/within'

interface Counts {
  readonly sandboxes: readonly { readonly state: string; readonly count: number }[]
  readonly builds: { readonly all: number; readonly running: number }
}

/** Less than Prometheus waits for a page. */
const TIMEOUT_MS = 2000

/**
 * The gauges that are read from the database when the metrics are read. While the database does not answer, their values are absent and the page has all others.
 */
export function registerDatabaseGauges(registry: Registry, database: Database): void {
  const flights = new SingleFlight<'counts', Counts | undefined>()
  // All gauges of a page share one read, and a read that hangs is joined by the next pages.
  const read = (): Promise<Counts | undefined> =>
    resultWithin(
      TIMEOUT_MS,
      flights.run('counts', () => readCounts(database).catch(() => undefined)),
    )
  const sandboxes = new Gauge({
    name: 'sandyard_sandboxes',
    help: 'Sandboxes by state, of the whole installation',
    labelNames: ['state'],
    registers: [registry],
    collect: async () => {
      const counts = await read()
      sandboxes.reset()
      for (const { state, count } of counts?.sandboxes ?? []) sandboxes.set({ state }, count)
    },
  })
  const builds = new Gauge({
    name: 'sandyard_builds',
    help: 'Started builds of the whole installation: queued or running',
    labelNames: ['state'],
    registers: [registry],
    collect: async () => {
      const counts = await read()
      builds.reset()
      if (counts === undefined) return
      builds.set({ state: 'queued' }, counts.builds.all - counts.builds.running)
      builds.set({ state: 'running' }, counts.builds.running)
    },
  })
  const up: Gauge = new Gauge({
    name: 'sandyard_database_up',
    help: 'Whether the database answered while these metrics were read',
    registers: [registry],
    collect: async () => {
      up.set((await read()) === undefined ? 0 : 1)
    },
  })
}

async function readCounts({ db }: Database): Promise<Counts> {
  const sandboxes = await db
    .selectFrom('sandbox')
    .select(['state', (eb) => eb.fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute()
  const builds = await db
    .selectFrom('build_job')
    .select((eb) => [eb.fn.countAll<number>().as('all'), eb.fn.count<number>('server_id').as('running')])
    .executeTakeFirstOrThrow()
  return { sandboxes, builds }
}
