import { Type, type Static } from 'typebox'
import { DateTime } from '../times.ts'

/** The most sandboxes of one request for the latest metrics (control-plane.md 8.3). */
export const MAX_METRIC_SANDBOXES = 100

/** One sample of a sandbox (control-plane.md 8.3). */
export const SandboxMetric = Type.Object(
  {
    timestamp: Type.String({ ...DateTime('When it was taken'), deprecated: true }),
    timestampUnix: Type.Integer({ description: 'When it was taken, in Unix seconds' }),
    cpuCount: Type.Integer({ format: 'int32', description: 'CPU cores' }),
    cpuUsedPct: Type.Number({ description: 'Percent of all cores, 0 to 100' }),
    memUsed: Type.Integer({ description: 'Memory in use, in bytes, without the page cache' }),
    memTotal: Type.Integer({ description: 'Memory in bytes' }),
    memCache: Type.Integer({ description: 'Page cache in bytes' }),
    diskUsed: Type.Integer({ description: 'Disk space in use, in bytes' }),
    diskTotal: Type.Integer({ description: 'Disk space in bytes' }),
  },
  { title: 'SandboxMetric' },
)
export type SandboxMetric = Static<typeof SandboxMetric>

/** Query of `GET /sandboxes/{sandboxID}/metrics`. */
export const SandboxMetricsQuery = Type.Object({
  start: Type.Optional(Type.Integer({ minimum: 0, description: 'Unix seconds, inclusive. Default: the first sample' })),
  end: Type.Optional(Type.Integer({ minimum: 0, description: 'Unix seconds, inclusive. Default: the last sample' })),
})
export type SandboxMetricsQuery = Static<typeof SandboxMetricsQuery>

/** Query of `GET /sandboxes/metrics`. */
export const ListSandboxMetricsQuery = Type.Object({
  sandbox_ids: Type.String({ description: `Ids of sandboxes, joined by commas, at most ${MAX_METRIC_SANDBOXES}` }),
})

/** The latest sample of each sandbox; sandboxes without one are absent. */
export const SandboxesWithMetrics = Type.Object({ sandboxes: Type.Record(Type.String(), SandboxMetric) }, { title: 'SandboxesWithMetrics' })
export type SandboxesWithMetrics = Static<typeof SandboxesWithMetrics>
