import { setTimeout as delay } from 'node:timers/promises'
import { readMetricsPage } from './metrics-page.ts'

const POLL_MS = 100
/** A pool that has not changed for so long is as full as it gets. */
const STEADY_MS = 2500
const DEADLINE_MS = 60_000

export interface PoolCounts {
  readonly parked: number
  readonly parking: number
  /** Creates that the pool had a sandbox for, since the start of the server. */
  readonly claimed: number
}

/** Undefined when the server has no metrics page at this address, or no warm pool. */
export async function readPool(metricsUrl: string): Promise<PoolCounts | undefined> {
  const page = await readMetricsPage(metricsUrl).catch(() => undefined)
  const parked = page?.get('sandyard_pool_sandboxes{state="parked"}')
  if (page === undefined || parked === undefined) return undefined
  return {
    parked,
    parking: page.get('sandyard_pool_sandboxes{state="parking"}') ?? 0,
    claimed: page.get('sandyard_pool_creates_total{outcome="claimed"}') ?? 0,
  }
}

/** Waits until the pool does not change any more. Returns at once when there is none. */
export async function waitUntilSteady(metricsUrl: string): Promise<PoolCounts | undefined> {
  const until = performance.now() + DEADLINE_MS
  let known = await readPool(metricsUrl)
  let since = performance.now()
  while (known !== undefined && performance.now() < until) {
    await delay(POLL_MS)
    const now = await readPool(metricsUrl)
    if (now?.parked !== known.parked || now.parking > 0) {
      known = now
      since = performance.now()
    } else if (performance.now() - since > STEADY_MS) return now
  }
  return known
}

/**
 * Waits until as many sandboxes wait and none is being started, or until the pool does not change any more: its demand may have gone down meanwhile. Returns at
 * once when there is no pool.
 */
export async function waitForParked(metricsUrl: string, least: number): Promise<void> {
  const until = performance.now() + DEADLINE_MS
  let [known, since] = [-1, performance.now()]
  for (;;) {
    const pool = await readPool(metricsUrl)
    if (pool === undefined || (pool.parked >= least && pool.parking === 0) || performance.now() > until) return
    if (pool.parked !== known || pool.parking > 0) [known, since] = [pool.parked, performance.now()]
    else if (performance.now() - since > STEADY_MS) return
    await delay(POLL_MS)
  }
}
