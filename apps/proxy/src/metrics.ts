import { Counter, Gauge, type Registry } from 'prom-client'
import type { Problem } from './answers/proxy-error.ts'

/** `cut`: the client had got a part of the answer when it broke off. */
type Outcome = 'forwarded' | 'cut' | Problem['kind']

export interface ProxyMetrics {
  readonly countRequest: (outcome: Outcome) => void
}

export function createMetrics(registry: Registry, countOpen: () => number): ProxyMetrics {
  const requests = new Counter({
    name: 'sandyard_proxy_requests_total',
    help: 'Requests and upgrades of clients, by how they ended.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const open: Gauge = new Gauge({
    name: 'sandyard_proxy_open_connections',
    help: 'Requests and upgraded connections to sandboxes that are open now.',
    registers: [],
    collect: () => open.set(countOpen()),
  })
  registry.registerMetric(open)
  return { countRequest: (outcome) => requests.inc({ outcome }) }
}
