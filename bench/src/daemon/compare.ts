import { cpuMsOf } from '../container-cpu.ts'
import type { Goal } from '../goal.ts'
import type { Comparison } from '../report.ts'
import { interleave, type RepeatOptions, type Samples } from '../samples.ts'
import type { Daemon, Daemons } from './daemons.ts'

/** "At least as fast as the reference daemon" (design.md 5). */
const AS_FAST: Goal = { of: 'ratio', at: ['p50', 'p95'], atMost: 1 }

interface Beside {
  readonly name: string
  readonly work: () => Promise<number>
  readonly goal?: Goal | undefined
}

export interface Measurement extends RepeatOptions {
  readonly what: string
  readonly unit?: Comparison['unit']
  /** The goal of the ratio to the reference daemon; `AS_FAST` when absent. */
  readonly goal?: Goal | undefined
  /** Also measures CPU time, if the daemon's container does nothing else meanwhile. */
  readonly countCpu?: boolean
  /** Public tools that do the same work. */
  readonly beside?: readonly Beside[]
}

/** Runs the same work with both daemons and with public tools, in turn, and returns a comparison with each. Only our values without others. */
export async function compare(
  { ours, reference }: Daemons,
  { what, unit = 'ms', goal = AS_FAST, beside = [], countCpu = false, ...repeat }: Measurement,
  work: (daemon: Daemon) => Promise<number>,
): Promise<Comparison[]> {
  const meters = { ours: new CpuMeter(ours, countCpu), ...(reference && { reference: new CpuMeter(reference, countCpu) }) }
  const works = [
    ...Object.entries(meters).map(([name, meter]) => [name, () => meter.during(work)] as const),
    ...beside.map(({ name, work }) => [name, work] as const),
  ]
  const samples = await interleave(repeat, Object.fromEntries(works))
  const goals = { reference: goal, ...Object.fromEntries(beside.map(({ name, goal }) => [name, goal])) }
  const comparisons = toComparisons({ what, unit }, samples, goals)
  if (!countCpu || meters.reference === undefined) return comparisons
  const cpuMs = { ours: [meters.ours.meanMs], against: [meters.reference.meanMs] }
  return comparisons.map((comparison) => (comparison.against?.name === 'reference' ? { ...comparison, cpuMs } : comparison))
}

/** The CPU time of repetitions in the container of a daemon. Its reads are outside of the timed part. */
class CpuMeter {
  readonly #daemon: Daemon
  readonly #counts: boolean
  #totalMs = 0
  #repetitions = 0

  constructor(daemon: Daemon, counts: boolean) {
    this.#daemon = daemon
    this.#counts = counts
  }

  get meanMs(): number {
    return this.#totalMs / this.#repetitions
  }

  async during(work: (daemon: Daemon) => Promise<number>): Promise<number> {
    if (!this.#counts) return work(this.#daemon)
    const { pid } = this.#daemon.container
    const before = await cpuMsOf(pid)
    const value = await work(this.#daemon)
    this.#totalMs += (await cpuMsOf(pid)) - before
    this.#repetitions++
    return value
  }
}

/** One comparison of `samples.ours` with each other entry; without other entries a comparison with nothing. */
export function toComparisons(
  row: Pick<Comparison, 'what' | 'unit'>,
  { ours = [], ...others }: Readonly<Record<string, Samples>>,
  goals: Readonly<Record<string, Goal | undefined>>,
): Comparison[] {
  const names = Object.keys(others)
  if (names.length === 0) return [{ ...row, ours }]
  return names.map((name) => ({ ...row, ours, against: { name, samples: others[name] ?? [] }, goal: goals[name] }))
}

/** Adds a row, before the comparisons, that compares our own value with a number of the design. */
export function withOwnGoal(goal: Goal, comparisons: readonly Comparison[]): Comparison[] {
  const [first] = comparisons
  if (first === undefined) return []
  const { what, unit, ours } = first
  return [{ what, unit, ours, goal }, ...comparisons.filter(({ against }) => against !== undefined)]
}
