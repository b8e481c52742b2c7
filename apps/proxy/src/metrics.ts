import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { AnswerKind } from './answer-kind.ts'
import { CAPS, type Cap, type Problem } from './answers/proxy-error.ts'

/** Outcomes and caps that alerts count: a rate sees the first event only if the series was there before. */
const COUNTED_OUTCOMES: readonly Outcome[] = ['forwarded', 'cut', 'not_found', 'no_answer', 'unavailable', 'internal']

/** `cut`: the answer broke off after the client had received a part of it. */
type Outcome = 'forwarded' | 'cut' | Problem['kind']

export interface ProxyMetrics {
  readonly countRequest: (outcome: Outcome) => void
  readonly countRefused: (cap: Cap) => void
  /** From the head of a request to the head of the answer of its sandbox. */
  readonly timeAnswer: (kind: AnswerKind, ms: number) => void
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

const ANSWER_SECONDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

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
  for (const outcome of COUNTED_OUTCOMES) requests.inc({ outcome }, 0)
  for (const cap of CAPS) refused.inc({ cap }, 0)
  const answers = new Histogram({
    name: 'sandyard_proxy_answer_seconds',
    help: 'Time from a request to the head of the answer of its sandbox, with the resume of a paused one: process_start, daemon (its other calls), port.',
    labelNames: ['kind'],
    buckets: ANSWER_SECONDS,
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
  // Looking for the series of a label takes several times as long as counting in it.
  const forwarded = requests.labels('forwarded')
  const timers = new Map<AnswerKind, Histogram.Internal<'kind'>>()
  return {
    countRequest: (outcome) => (outcome === 'forwarded' ? forwarded.inc() : requests.inc({ outcome })),
    countRefused: (cap) => refused.inc({ cap }),
    timeAnswer: (kind, ms) => {
      const timer = timers.get(kind) ?? answers.labels(kind)
      timers.set(kind, timer)
      timer.observe(ms / 1000)
    },
  }
}
