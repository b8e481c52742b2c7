const RANGES = ['day', 'week', 'month', 'quarter'] as const
export type UsageRange = (typeof RANGES)[number]

const HOUR_MS = 3_600_000
const DAYS = { day: 1, week: 7, month: 30, quarter: 90 } satisfies Record<UsageRange, number>

export interface UsageTimes {
  readonly from: string
  readonly to: string
  readonly bucket: 'hour' | 'day'
}

/** The range until now, from a whole hour: equal within the hour, so that a render asks nothing new. */
export function timesOf(range: UsageRange, now: number): UsageTimes {
  const to = Math.ceil(now / HOUR_MS) * HOUR_MS
  const from = to - DAYS[range] * 24 * HOUR_MS
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), bucket: range === 'day' ? 'hour' : 'day' }
}

export function rangeOf(text: string): UsageRange {
  return RANGES.find((range) => range === text) ?? 'week'
}
