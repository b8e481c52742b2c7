import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Database } from '@sandyard/db/database'
import { EVENT_LOOP_RESOLUTION_MS } from '@sandyard/kit/metrics/event-loop-resolution'
import { REQUEST_CAPS } from '../http/caps/request-cap.ts'
import { AdmissionMetrics } from './admission-metrics.ts'
import { registerDatabaseGauges, type DatabaseGaugeOptions } from './database-gauges.ts'
import { registerPoolGauges } from './pool-gauges.ts'
import { createPoolMetrics, type PoolMetrics } from '../warm-pool/pool-metrics.ts'
import { SandboxTimings } from './sandbox-timings.ts'

/** The metrics of one control plane. Labels have few, known values: never ids, except those of the capped series of sandboxes. */
export interface ApiMetrics {
  readonly registry: Registry
  readonly requests: Histogram<'operation' | 'status'>
  readonly refusedRequests: Counter<'cap'>
  readonly unimplemented: Counter<'operation' | 'field'>
  readonly buildAttempts: Histogram<'outcome'>
  readonly uploadedBytes: Counter
  readonly refusedPackets: Counter<'rule'>
  readonly auditUnstored: Counter
  readonly webhookAttempts: Counter<'result'>
  readonly timings: SandboxTimings
  readonly pool: PoolMetrics
  readonly admission: AdmissionMetrics
}

const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 15, 60]
const BUILD_SECONDS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600]

export function createApiMetrics(database: Database, options: DatabaseGaugeOptions): ApiMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_RESOLUTION_MS })
  registerDatabaseGauges(registry, database, options)
  registerPoolGauges(registry, database)
  const buildAttempts = new Histogram({
    name: 'sandyard_build_attempt_seconds',
    help: 'Time of build attempts of this server by outcome: ready, failed, released when it stopped, lost to another server.',
    labelNames: ['outcome'],
    buckets: BUILD_SECONDS,
    registers: [registry],
  })
  // A rate sees the first event only if the series was there before.
  for (const outcome of ['ready', 'failed', 'released', 'lost']) buildAttempts.zero({ outcome })
  const webhookAttempts = new Counter({
    name: 'sandyard_webhook_attempts_total',
    help: 'Attempts of this server to send deliveries to webhooks, by result: delivered, failed (it is tried again), dead (it was given up).',
    labelNames: ['result'],
    registers: [registry],
  })
  for (const result of ['delivered', 'failed', 'dead']) webhookAttempts.inc({ result }, 0)
  const refusedRequests = new Counter({
    name: 'sandyard_api_refused_total',
    help: 'Connections and requests that a cap refused, by the cap (docs/limits.md).',
    labelNames: ['cap'],
    registers: [registry],
  })
  for (const cap of REQUEST_CAPS) refusedRequests.inc({ cap }, 0)
  return {
    registry,
    refusedRequests,
    webhookAttempts,
    timings: new SandboxTimings(registry),
    pool: createPoolMetrics(registry),
    admission: new AdmissionMetrics(registry),
    buildAttempts,
    uploadedBytes: new Counter({
      name: 'sandyard_uploaded_bytes_total',
      help: 'Archives for COPY steps that this server accepted.',
      registers: [registry],
    }),
    refusedPackets: new Counter({
      name: 'sandyard_egress_refused_packets_total',
      help: 'Packets of sandboxes that the rules of the host refused, by rule: a sample of a few a second for each sandbox.',
      labelNames: ['rule'],
      registers: [registry],
    }),
    auditUnstored: new Counter({
      name: 'sandyard_audit_unstored_total',
      help: 'Audit records that are in the log only: the database did not take them, or a team has too many refused calls.',
      registers: [registry],
    }),
    requests: new Histogram({
      name: 'sandyard_api_request_seconds',
      help: 'Time from a request to its answer, by operation and status.',
      labelNames: ['operation', 'status'],
      buckets: SECONDS,
      registers: [registry],
    }),
    unimplemented: new Counter({
      name: 'sandyard_unimplemented_requests_total',
      help: 'Requests for what this server does not support.',
      labelNames: ['operation', 'field'],
      registers: [registry],
    }),
  }
}
