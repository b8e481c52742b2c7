import type { SandboxMetric } from '@sandyard/api-contract/sandboxes/sandbox-metrics'
import type { MetricSample } from '@sandyard/dashboard-contract/live/topics'
import type { TimelineEntry } from '@sandyard/dashboard-contract/timeline'

/** Seconds of Unix time and values; null: no sample, so the line has a hole there. */
export interface Series {
  readonly at: readonly number[]
  readonly cpuPct: readonly (number | null)[]
  readonly memoryUsed: readonly (number | null)[]
  readonly memoryCache: readonly (number | null)[]
  readonly diskUsed: readonly (number | null)[]
  readonly memoryTotal: number
  readonly diskTotal: number
}

const MAX_SAMPLES = 20_000
/** A hole this long is drawn as one. */
const HOLE_S = 60

export function fromWire(metric: SandboxMetric): MetricSample {
  return {
    at: metric.timestampUnix * 1000,
    cpuPct: metric.cpuUsedPct,
    memoryUsedBytes: metric.memUsed,
    memoryCacheBytes: metric.memCache,
    memoryTotalBytes: metric.memTotal,
    diskUsedBytes: metric.diskUsed,
    diskTotalBytes: metric.diskTotal,
  }
}

/** Samples with one more, in order, without a second one of the same instant. */
export function withSample(samples: readonly MetricSample[], sample: MetricSample): readonly MetricSample[] {
  const last = samples.at(-1)
  return last !== undefined && sample.at <= last.at ? samples : [...samples, sample].slice(-MAX_SAMPLES)
}

export function toSeries(samples: readonly MetricSample[]): Series {
  const points: (MetricSample | { readonly at: number; readonly isHole: true })[] = []
  for (const sample of samples) {
    const last = points.at(-1)
    if (last !== undefined && sample.at - last.at > HOLE_S * 1000) points.push({ at: last.at + 1000, isHole: true })
    points.push(sample)
  }
  const values = (read: (sample: MetricSample) => number): (number | null)[] =>
    points.map((point) => ('isHole' in point ? null : read(point)))
  return {
    at: points.map(({ at }) => at / 1000),
    cpuPct: values(({ cpuPct }) => cpuPct),
    memoryUsed: values(({ memoryUsedBytes }) => memoryUsedBytes),
    memoryCache: values(({ memoryCacheBytes }) => memoryCacheBytes),
    diskUsed: values(({ diskUsedBytes }) => diskUsedBytes),
    memoryTotal: samples.at(-1)?.memoryTotalBytes ?? 0,
    diskTotal: samples.at(-1)?.diskTotalBytes ?? 0,
  }
}

/** When the sandbox was paused, in seconds of Unix time. */
export function pausedBands(entries: readonly TimelineEntry[], nowMs: number): readonly (readonly [number, number])[] {
  return entries
    .filter(({ kind, endedAt }) => kind.includes('paused') && endedAt !== undefined)
    .map(
      ({ at, endedAt }) =>
        [Date.parse(at) / 1000, (endedAt === null || endedAt === undefined ? nowMs : Date.parse(endedAt)) / 1000] as const,
    )
}

export const RANGES = ['all', 'first5', 'last5', 'last15', 'last30'] as const
export type Range = (typeof RANGES)[number]

/** Unix seconds; undefined: from the first or to the last sample. */
export function rangeOf(range: Range, startedAt: string | null, nowMs: number): { readonly start?: number; readonly end?: number } {
  const nowS = Math.ceil(nowMs / 1000)
  if (range === 'all') return {}
  if (range === 'first5') {
    const startS = Math.floor(Date.parse(startedAt ?? '') / 1000)
    return Number.isNaN(startS) ? {} : { start: startS, end: startS + 300 }
  }
  return { start: nowS - { last5: 300, last15: 900, last30: 1800 }[range] }
}
