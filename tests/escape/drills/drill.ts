import type { Course } from '../course.ts'
import { gathered, verdictOf, type Row } from '../judge.ts'
import type { Spot } from '../places.ts'

/** A way out that takes several steps, or that would disturb other probes. Its outcomes have the form of a probe's. */
export interface Drill {
  readonly id: string
  readonly title: string
  /** What it tried and what happened; `control` is what happened where it is allowed. */
  readonly run: (course: Course) => Promise<readonly DrillResult[]>
}

export interface DrillResult {
  readonly spot: Spot
  readonly control: string
  readonly result: string
}

/** The rows of a drill. A drill that fails itself is broken. */
export async function runDrill({ id, title, run }: Drill, course: Course): Promise<Row[]> {
  const results = await run(course).catch((err: unknown): DrillResult[] => [
    { spot: { place: 'sandbox', account: 'user' }, control: '', result: `broken: ${String(err).split('\n')[0]}` },
  ])
  return gathered(
    results.map(({ spot, control, result }) => ({ id, title, spots: [spot], control, result, verdict: verdictOf({}, control, result) })),
  )
}
