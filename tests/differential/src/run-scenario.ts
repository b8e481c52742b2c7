import { findDifferences, type Difference } from './compare/difference.ts'
import { readAnswer, type Reading } from './compare/reading.ts'
import type { Scenario, Step } from './scenario.ts'
import type { Twin } from './twins/twin.ts'
import { watchTwin, type Watched } from './watch-twin.ts'
import type { WireRequest } from './wire/exchange.ts'

export interface Twins {
  readonly ours: Twin
  readonly reference: Twin
}

/** What one request, one watch or the files at the end looked like, on both sides. */
export interface Comparison {
  readonly area: string
  readonly what: 'request' | 'watch' | 'tree'
  readonly request?: WireRequest
  readonly requests: readonly WireRequest[]
  readonly differences: readonly Difference[]
}

/** Runs the steps on both daemons at the same time and compares after each. */
export async function runScenario(scenario: Scenario, twins: Twins): Promise<Comparison[]> {
  if (scenario.isFresh === true) await both(twins, (twin) => twin.restart())
  const comparisons: Comparison[] = []
  const requests: WireRequest[] = []
  for (const step of scenario.steps) {
    requests.push(...requestsOf(step))
    const [ours, reference] = await both(twins, (twin) => perform(twin, step))
    if (step.kind === 'act') continue
    comparisons.push({
      area: scenario.area,
      what: step.kind,
      ...(step.kind === 'request' ? { request: step.request } : {}),
      requests: [...requests],
      differences: findDifferences('', ours, reference),
    })
  }
  return comparisons
}

function both<T>(twins: Twins, run: (twin: Twin) => Promise<T>): Promise<[T, T]> {
  return Promise.all([run(twins.ours), run(twins.reference)])
}

async function perform(twin: Twin, step: Step): Promise<Reading | Watched | undefined> {
  if (step.kind === 'request') return readAnswer(await twin.send(step.request), step.request)
  if (step.kind === 'watch') return watchTwin(twin, step.watch)
  await twin.act(step.action)
  return undefined
}

function requestsOf(step: Step): WireRequest[] {
  if (step.kind === 'request') return [step.request]
  return step.kind === 'watch' ? step.watch.steps.flatMap(requestsOf) : []
}
