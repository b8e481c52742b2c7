import { formatGoal, isMet, type Goal, type Quantiles } from './goal.ts'
import { quantile, type Samples } from './samples.ts'

/** One measured value and the value of the same run that it is compared with. */
export interface Comparison {
  readonly what: string
  readonly unit: 'ms' | 'us' | 'MiB/s' | 'MiB' | '% of a core' | 'count'
  readonly ours: Samples
  /** Absent for a value without a comparison. */
  readonly against?: { readonly name: string; readonly samples: Samples } | undefined
  /** The goal of design.md 5. */
  readonly goal?: Goal | undefined
  /** CPU milliseconds in the container for each repetition: a mean for each round. */
  readonly cpuMs?: { readonly ours: Samples; readonly against: Samples } | undefined
}

export interface Row {
  readonly what: string
  readonly unit: string
  readonly n: number
  readonly ours: Quantiles
  readonly against?: Quantiles & { readonly name: string }
  /** Ours divided by the other. */
  readonly ratio?: Quantiles
  readonly goal?: string
  readonly met?: boolean
  readonly cpuMs?: { readonly ours: number; readonly against: number }
}

export function toRow({ what, unit, ours, against, goal, cpuMs }: Comparison): Row {
  const own = summarize(ours)
  const other = against === undefined ? undefined : summarize(against.samples)
  const ratio =
    other === undefined ? undefined : { p50: round(own.p50 / other.p50), p95: round(own.p95 / other.p95), p99: round(own.p99 / other.p99) }
  const met = goal === undefined ? undefined : isMet(goal, { ours: own, ratio })
  return {
    what,
    unit,
    n: ours.length,
    ours: own,
    ...(against === undefined || other === undefined ? {} : { against: { name: against.name, ...other } }),
    ...(ratio === undefined ? {} : { ratio }),
    ...(goal === undefined ? {} : { goal: formatGoal(goal) }),
    ...(met === undefined ? {} : { met }),
    ...(cpuMs === undefined ? {} : { cpuMs: { ours: mean(cpuMs.ours), against: mean(cpuMs.against) } }),
  }
}

/** A row as two or three lines for a terminal. */
export function formatRow({ what, unit, n, ours, against, ratio, goal, met }: Row): string {
  const lines = [`${what} (n=${n})`, `  ours            p50 ${ours.p50} ${unit}, p95 ${ours.p95} ${unit}`]
  if (against !== undefined && ratio !== undefined) {
    lines.push(
      `  ${against.name.padEnd(15)} p50 ${against.p50} ${unit}, p95 ${against.p95} ${unit}`,
      `  ratio           p50 ${ratio.p50}, p95 ${ratio.p95}`,
    )
  }
  if (goal !== undefined) lines.push(`  goal            ${goal}: ${met ? 'met' : 'missed'}`)
  return lines.join('\n')
}

/** For throughput too, p95 is the value that 95 of 100 do not exceed. */
function summarize(samples: Samples): Quantiles {
  return { p50: round(quantile(samples, 0.5)), p95: round(quantile(samples, 0.95)), p99: round(quantile(samples, 0.99)) }
}

function mean(samples: Samples): number {
  return round(samples.reduce((sum, value) => sum + value, 0) / samples.length)
}

function round(value: number): number {
  return Number(value.toPrecision(value >= 100 ? 4 : 3))
}
