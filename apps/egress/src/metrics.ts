import { Counter, Gauge, type Registry } from 'prom-client'
import type { DecidedBy } from './decisions/decision-log.ts'

/** Why a connection was refused before there was a policy to ask. */
type Unserved = 'not_redirected' | 'limit' | 'unavailable' | 'unknown_source'
/** What became of a lookup. */
export type LookupOutcome = 'forwarded' | 'refused' | 'empty' | 'failed' | 'malformed' | 'limit' | 'unknown_source'

export interface EgressMetrics {
  readonly countConnection: (verdict: 'allow' | 'deny', rule: DecidedBy | Unserved) => void
  readonly countLookup: (outcome: LookupOutcome) => void
  readonly countDropped: () => void
}

/** @param countOpen - the connections that are open now */
export function createMetrics(registry: Registry, countOpen: () => number): EgressMetrics {
  const connections = new Counter({
    name: 'sandyard_egress_connections_total',
    help: 'Connections and HTTP requests of sandboxes, by the rule that decided.',
    labelNames: ['verdict', 'rule'],
    registers: [registry],
  })
  const lookups = new Counter({
    name: 'sandyard_egress_lookups_total',
    help: 'Filtered lookups of sandboxes, by their outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const dropped = new Counter({
    name: 'sandyard_egress_decisions_dropped_total',
    help: 'Decisions that were counted here but not kept for the history of their sandbox.',
    registers: [registry],
  })
  const open: Gauge = new Gauge({
    name: 'sandyard_egress_open_connections',
    help: 'Connections of sandboxes that are open now.',
    registers: [],
    collect: () => open.set(countOpen()),
  })
  registry.registerMetric(open)
  return {
    countConnection: (verdict, rule) => connections.inc({ verdict, rule }),
    countLookup: (outcome) => lookups.inc({ outcome }),
    countDropped: () => dropped.inc(),
  }
}
