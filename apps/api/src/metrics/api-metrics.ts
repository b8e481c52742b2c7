import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Database } from '@sandyard/db/database'
import { registerDatabaseGauges } from './database-gauges.ts'

/** The metrics of one control plane. Labels have few, known values: never ids. */
export interface ApiMetrics {
  readonly registry: Registry
  readonly requests: Histogram<'operation' | 'status'>
  readonly unimplemented: Counter<'operation' | 'field'>
  readonly buildAttempts: Counter<'outcome'>
  readonly uploadedBytes: Counter
  readonly refusedPackets: Counter<'rule'>
}

const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 15, 60]

export function createApiMetrics(database: Database): ApiMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  registerDatabaseGauges(registry, database)
  return {
    registry,
    buildAttempts: new Counter({
      name: 'sandyard_build_attempts_total',
      help: 'Build attempts of this server by outcome: ready, failed, released when it stopped, lost to another server',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    uploadedBytes: new Counter({
      name: 'sandyard_uploaded_bytes_total',
      help: 'Archives for COPY steps that this server accepted',
      registers: [registry],
    }),
    refusedPackets: new Counter({
      name: 'sandyard_egress_refused_packets_total',
      help: 'Packets of sandboxes that the rules of the host refused, by rule: a sample of a few a second for each sandbox',
      labelNames: ['rule'],
      registers: [registry],
    }),
    requests: new Histogram({
      name: 'sandyard_api_request_seconds',
      help: 'Time from request to answer',
      labelNames: ['operation', 'status'],
      buckets: SECONDS,
      registers: [registry],
    }),
    unimplemented: new Counter({
      name: 'sandyard_unimplemented_requests_total',
      help: 'Requests for operations and fields that this server does not support yet',
      labelNames: ['operation', 'field'],
      registers: [registry],
    }),
  }
}
