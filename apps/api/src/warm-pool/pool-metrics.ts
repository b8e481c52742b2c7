import { Counter, type Registry } from 'prom-client'

/** What the warm pool of this server did. The gauge of what waits is among those of the database. */
export interface PoolMetrics {
  readonly creates: Counter<'outcome'>
  readonly parkings: Counter<'outcome'>
}

export function createPoolMetrics(registry: Registry): PoolMetrics {
  const creates = new Counter({
    name: 'sandyard_pool_creates_total',
    help: 'Creates by what the warm pool had for them: claimed, missed; failed counts claimed ones that did not work and were started anew.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const parkings = new Counter({
    name: 'sandyard_pool_parkings_total',
    help: 'Starts of sandboxes for the warm pool, by outcome: done, failed.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  // A rate sees the first event only if the series was there before.
  for (const outcome of ['claimed', 'missed', 'failed']) creates.inc({ outcome }, 0)
  for (const outcome of ['done', 'failed']) parkings.inc({ outcome }, 0)
  return { creates, parkings }
}
