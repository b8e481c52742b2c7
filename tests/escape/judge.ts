import { markOf, type Outcomes, type Spot } from './places.ts'
import { ACCOUNTS, NOT_IN_KERNEL, PLACES, type Probe } from './probe.ts'

export type Verdict = 'shut' | 'allowed' | 'OPEN' | 'absent here' | 'BROKEN'

/** One line of the table: the spots in which a probe had the same verdict. */
export interface Row {
  readonly id: string
  readonly title: string
  readonly spots: readonly Spot[]
  /** What happened where the thing is allowed. */
  readonly control: string
  /** What happened. */
  readonly result: string
  readonly verdict: Verdict
}

export interface Evidence {
  readonly outcomes: Outcomes
  readonly control: Outcomes
  /** `<probe> <mark>` of the packets that arrived. */
  readonly arrived: ReadonlySet<string>
  /** Whether the profile of sandboxes is the default of the engine, and so that of steps of Dockerfiles. */
  readonly hasStepProfile: boolean
}

export function spotsOf({ places = PLACES, accounts = ACCOUNTS }: Probe): Spot[] {
  return places.flatMap((place) => accounts.map((account) => ({ place, account })))
}

/** The rows of one probe: one for each verdict. */
export function judge(probe: Probe, { outcomes, control, arrived, hasStepProfile }: Evidence): Row[] {
  const allowed = withArrival(control.get(`control ${probe.id}`), arrived.has(`${probe.id} control`))
  const rows = spotsOf(probe).map((spot) => {
    const mark = markOf(spot)
    const result = withArrival(outcomes.get(`${mark} ${probe.id}`), arrived.has(`${probe.id} ${mark}`))
    const row = { id: probe.id, title: probe.title, spots: [spot], result }
    if (probe.byEngineProfile === true && spot.place === 'Dockerfile step' && !hasStepProfile) {
      return { ...row, control: 'absent: the profile of sandboxes as the default of this engine', verdict: 'absent here' as const }
    }
    return { ...row, control: allowed, verdict: verdictOf(probe, allowed, result) }
  })
  return gathered(rows)
}

/** One row for each verdict, with the spots and results of all. */
export function gathered(rows: readonly Row[]): Row[] {
  const groups = Object.values(Object.groupBy(rows, ({ verdict }) => verdict)).filter((group) => group !== undefined)
  return groups.flatMap((group) =>
    group[0] === undefined ? [] : [{ ...group[0], spots: distinct(group.flatMap(({ spots }) => spots)), result: resultOf(group) }],
  )
}

function distinct(spots: readonly Spot[]): Spot[] {
  return [...new Map(spots.map((spot) => [markOf(spot), spot])).values()]
}

/** The results of several spots, each once, with the most frequent first. */
function resultOf(rows: readonly Row[]): string {
  const counted = Object.entries(Object.groupBy(rows, ({ result }) => result)).toSorted(([, a = []], [, b = []]) => b.length - a.length)
  return counted.map(([result], at) => (at === 0 ? result : result.replace(/^blocked: /, ''))).join('; ')
}

/** @param control what happened where it is allowed, @param result what happened */
export function verdictOf(
  { absent, mustBeOpen = false, control: needed = /^open/ }: Pick<Probe, 'absent' | 'mustBeOpen' | 'control'>,
  control: string,
  result: string,
): Verdict {
  if (result.startsWith('open')) return mustBeOpen ? 'allowed' : 'OPEN'
  if (mustBeOpen || !/^(?:blocked|absent): /.test(result)) return 'BROKEN'
  if (needed.test(control)) return 'shut'
  return control.startsWith('absent: ') || NOT_IN_KERNEL.test(control) || absent?.test(control) === true ? 'absent here' : 'BROKEN'
}

/** A packet that arrived is the better witness than the program that sent it. */
function withArrival(outcome: string | undefined, hasArrived: boolean): string {
  if (outcome === undefined) return 'broken: it did not run'
  if (hasArrived && !outcome.startsWith('open')) return 'open: its packets arrived'
  return outcome === 'sent' ? 'blocked: nothing arrived' : outcome
}
