import { Gauge, type Registry } from 'prom-client'
import type { Database } from '@sandyard/db/database'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { within } from '@sandyard/kit/async/within'
import { readInstallation, type InstallationCounts } from './read-installation.ts'
import { readUsage, type Usage } from './read-usage.ts'
import { readWebhooks, type WebhookCounts } from './read-webhooks.ts'

export interface DatabaseGaugeOptions {
  /** Concurrent sandboxes of a team. */
  readonly concurrentSandboxes: number
  /** Sandboxes that have series of their own. */
  readonly maxSandboxes: number
}

interface Reading {
  readonly webhooks: WebhookCounts
  readonly counts: InstallationCounts
  readonly usage: Usage
}

type Values = readonly [value: number, labels?: Readonly<Record<string, string>>][]

interface Definition {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
  readonly values: (reading: Reading) => Values
}

/** Less than a scrape waits (10 s), so that the rest of the page is served when the database hangs. */
const TIMEOUT_MS = 3000

const SANDBOX_LABELS = ['sandbox_id', 'template_id'] as const

const DEFINITIONS: readonly Definition[] = [
  {
    name: 'sandyard_sandboxes',
    help: 'Sandboxes by state, of the whole installation.',
    labels: ['state'],
    values: ({ counts }) => [...counts.sandboxes].map(([state, count]) => [count, { state }]),
  },
  {
    name: 'sandyard_pool_sandboxes',
    help: 'Sandboxes of the warm pool of the whole installation: parking (being started), parked (waiting for a create).',
    labels: ['state'],
    values: ({ counts }) => Object.entries(counts.pool).map(([state, count]) => [count, { state }]),
  },
  {
    name: 'sandyard_sandbox_limit',
    help: 'Sandboxes that a team without a limit of its own may have at once (SANDYARD_MAX_SANDBOXES).',
    values: ({ counts }) => [[counts.sandboxLimit]],
  },
  {
    name: 'sandyard_teams_at_sandbox_limit',
    help: 'Teams that have as many sandboxes as they may.',
    values: ({ counts }) => [[counts.teamsAtLimit]],
  },
  {
    name: 'sandyard_sandbox_expiry_lag_seconds',
    help: 'How long ago the end time of the running sandbox that is most overdue was; 0 when none is overdue.',
    values: ({ counts }) => [[counts.expiryLagSeconds]],
  },
  {
    name: 'sandyard_builds',
    help: 'Started builds of the whole installation: queued, running.',
    labels: ['state'],
    values: ({ counts }) => [
      [counts.builds.queued, { state: 'queued' }],
      [counts.builds.running, { state: 'running' }],
    ],
  },
  {
    name: 'sandyard_build_queue_age_seconds',
    help: 'How long the oldest queued build has waited; 0 when none is queued.',
    values: ({ counts }) => [[counts.builds.queueAgeSeconds]],
  },
  {
    name: 'sandyard_servers',
    help: 'Servers of the control plane: ready, draining, lost (their lease ended within the last 15 minutes, without an orderly stop).',
    labels: ['state'],
    values: ({ counts }) => Object.entries(counts.servers).map(([state, count]) => [count, { state }]),
  },
  {
    name: 'sandyard_webhook_waiting_deliveries',
    help: 'Deliveries to webhooks that wait for an attempt or are being sent, of the whole installation; at most 100000 are counted.',
    values: ({ webhooks }) => [[webhooks.pending]],
  },
  {
    name: 'sandyard_webhook_dead_deliveries',
    help: 'Deliveries to webhooks that were given up and are still kept, of the whole installation; at most 100000 are counted.',
    values: ({ webhooks }) => [[webhooks.dead]],
  },
  {
    name: 'sandyard_webhook_delivery_lag_seconds',
    help: 'How long the delivery that is due the longest has waited for a server; 0 when none does. Teams whose receivers are being called do not count.',
    values: ({ webhooks }) => [[webhooks.lagSeconds]],
  },
  {
    name: 'sandyard_sandbox_cpu_used_ratio',
    help: 'Share of its processors that a sandbox uses, 0 to 1.',
    labels: SANDBOX_LABELS,
    values: ofSandboxes('cpuUsedRatio'),
  },
  {
    name: 'sandyard_sandbox_cpu_count',
    help: 'Processors of a sandbox.',
    labels: SANDBOX_LABELS,
    values: ofSandboxes('cpuCount'),
  },
  {
    name: 'sandyard_sandbox_memory_used_bytes',
    help: 'Memory that a sandbox uses, without its file cache.',
    labels: SANDBOX_LABELS,
    values: ofSandboxes('memoryUsedBytes'),
  },
  {
    name: 'sandyard_sandbox_memory_total_bytes',
    help: 'Memory that a sandbox may use.',
    labels: SANDBOX_LABELS,
    values: ofSandboxes('memoryTotalBytes'),
  },
  {
    name: 'sandyard_sandbox_disk_used_bytes',
    help: "Used bytes of a sandbox's disk; those of the host where the engine does not limit the disks of sandboxes.",
    labels: SANDBOX_LABELS,
    values: ofSandboxes('diskUsedBytes'),
  },
  {
    name: 'sandyard_sandbox_disk_total_bytes',
    help: "Size of a sandbox's disk; that of the host where the engine does not limit the disks of sandboxes.",
    labels: SANDBOX_LABELS,
    values: ofSandboxes('diskTotalBytes'),
  },
  {
    name: 'sandyard_sandbox_series_omitted',
    help: 'Running sandboxes without series of their own: over SANDYARD_METRICS_MAX_SANDBOXES, or without a sample of the last 30 s.',
    values: ({ counts, usage }) => [[Math.max(0, (counts.sandboxes.get('running') ?? 0) - usage.length)]],
  },
]

/**
 * Gauges of the whole installation. Every scrape reads them from the database, so all servers report the same. While the database does not
 * answer they have no value and `sandyard_database_up` is 0; the rest of the page is served.
 */
export function registerDatabaseGauges(registry: Registry, database: Database, options: DatabaseGaugeOptions): void {
  const reads = new SingleFlight<'read', void>()
  // The collects of one scrape begin together and share one read.
  const collect = (): Promise<void> => reads.run('read', read)
  const shared = { registers: [registry], collect }
  const up = new Gauge({ name: 'sandyard_database_up', help: 'Whether the database answered the queries of this page in time.', ...shared })
  const gauges = DEFINITIONS.map(({ name, help, labels = [], values }) => {
    const gauge = new Gauge<string>({ name, help, labelNames: [...labels], ...shared })
    return { gauge, values, clear: () => (labels.length === 0 ? gauge.remove() : gauge.reset()) }
  })

  async function read(): Promise<void> {
    const reading = await within({ what: 'the read of metrics', timeoutMs: TIMEOUT_MS }, () => readAll(database, options)).catch(
      () => undefined,
    )
    up.set(reading === undefined ? 0 : 1)
    for (const { gauge, values, clear } of gauges) {
      clear()
      if (reading === undefined) continue
      for (const [value, labels] of values(reading)) gauge.set(labels ?? {}, value)
    }
  }
}

/** One query after the other: a scrape takes one connection of the pool. */
async function readAll({ db }: Database, { concurrentSandboxes, maxSandboxes }: DatabaseGaugeOptions): Promise<Reading> {
  const counts = await readInstallation(db, concurrentSandboxes)
  const webhooks = await readWebhooks(db)
  return { counts, webhooks, usage: maxSandboxes > 0 ? await readUsage(db, maxSandboxes) : [] }
}

function ofSandboxes(key: Exclude<keyof Usage[number], 'sandboxId' | 'templateId'>): Definition['values'] {
  return ({ usage }) => usage.map((each) => [each[key], { sandbox_id: each.sandboxId, template_id: each.templateId }])
}
