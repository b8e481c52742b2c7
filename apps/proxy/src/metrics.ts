import { Counter, Gauge, type Registry } from 'prom-client'
import type { Cap, Problem } from './answers/proxy-error.ts'

/** `cut`: the answer broke off after the client had received a part of it. */
type Outcome = 'forwarded' | 'cut' | Problem['kind']

export interface ProxyMetrics {
  readonly countRequest: (outcome: Outcome) => void
  readonly countRefused: (cap: Cap) => void
}

/** Current counts. */
export interface OpenCounts {
  /** Requests and upgraded connections to sandboxes. */
  readonly forwarded: number
  /** Requests that wait until their sandboxes run. */
  readonly waiting: number
  readonly connections: number
  /** Includes requests that wait behind others of their connection. */
  readonly requests: number
}

export function createMetrics(registry: Registry, countOpen: () => OpenCounts): ProxyMetrics {
  const requests = new Counter({
    name: 'sandyard_proxy_requests_total',
    help: 'Requests and upgrades of clients, by how they ended.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const refused = new Counter({
    name: 'sandyard_proxy_refused_total',
    help: 'Connections, requests and answers that a cap refused, by the cap (docs/limits.md).',
    labelNames: ['cap'],
    registers: [registry],
  })
  const gauges: [name: string, help: string, key: keyof OpenCounts][] = [
    ['sandyard_proxy_open_connections', 'Requests and upgraded connections to sandboxes that are open now.', 'forwarded'],
    ['sandyard_proxy_waiting_requests', 'Requests that wait until their sandboxes run.', 'waiting'],
    ['sandyard_proxy_client_connections', 'Connections of clients that are open now.', 'connections'],
    ['sandyard_proxy_requests_in_flight', 'Requests in flight, with those that wait behind others of their connection.', 'requests'],
  ]
  for (const [name, help, key] of gauges) {
    const gauge: Gauge = new Gauge({ name, help, registers: [], collect: () => gauge.set(countOpen()[key]) })
    registry.registerMetric(gauge)
  }
  return { countRequest: (outcome) => requests.inc({ outcome }), countRefused: (cap) => refused.inc({ cap }) }
}
