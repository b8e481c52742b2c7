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
  /** What the ratio to the reference daemon must be; `AS_FAST` when absent. */
  readonly goal?: Goal | undefined
  /** Public tools that do the same. */
  readonly beside?: readonly Beside[]
}

/** The same work with both daemons and with public tools, in turn: a comparison with each. Ours alone where there is nothing else. */
export async function compare(
  { ours, reference }: Daemons,
  { what, unit = 'ms', goal = AS_FAST, beside = [], ...repeat }: Measurement,
  work: (daemon: Daemon) => Promise<number>,
): Promise<Comparison[]> {
  const works: Record<string, () => Promise<number>> = { ours: () => work(ours) }
  if (reference !== undefined) works['reference'] = () => work(reference)
  for (const { name, work } of beside) works[name] = work
  const samples = await interleave(repeat, works)
  const goals: Record<string, Goal | undefined> = { reference: goal, ...Object.fromEntries(beside.map(({ name, goal }) => [name, goal])) }
  return toComparisons({ what, unit }, samples, goals)
}

/** One comparison of `samples.ours` with each other entry; without any, of nothing. */
export function toComparisons(
  row: Pick<Comparison, 'what' | 'unit'>,
  { ours = [], ...others }: Readonly<Record<string, Samples>>,
  goals: Readonly<Record<string, Goal | undefined>>,
): Comparison[] {
  const names = Object.keys(others)
  if (names.length === 0) return [{ ...row, ours }]
  return names.map((name) => ({ ...row, ours, against: { name, samples: others[name] ?? [] }, goal: goals[name] }))
}

/** Before the comparisons of one thing, a row that holds our own value against a number of the design. */
export function withOwnGoal(goal: Goal, comparisons: readonly Comparison[]): Comparison[] {
  const [first] = comparisons
  if (first === undefined) return []
  const { what, unit, ours } = first
  return [{ what, unit, ours, goal }, ...comparisons.filter(({ against }) => against !== undefined)]
}
