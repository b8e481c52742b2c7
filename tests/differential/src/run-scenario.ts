import { findDifferences, type Difference } from './compare/difference.ts'
import { readAnswer, type Reading } from './compare/reading.ts'
import type { Scenario, Step } from './scenario.ts'
import type { Twin } from './twins/twin.ts'
import { runScript } from './script/run-script.ts'
import type { Script } from './script/script.ts'
import { watchTwin, type Watched } from './watch-twin.ts'
import type { WireRequest } from './wire/exchange.ts'
import { toRequest } from './wire/process-call.ts'

export interface Twins {
  readonly ours: Twin
  readonly reference: Twin
}

/** The differences of one request, one watch, one script, or the files after a scenario. */
export interface Comparison {
  readonly area: string
  readonly what: 'request' | 'watch' | 'script' | 'tree'
  readonly request?: WireRequest
  readonly requests: readonly WireRequest[]
  readonly differences: readonly Difference[]
}

/** Runs each step on both daemons concurrently and compares the results. */
export async function runScenario(scenario: Scenario, twins: Twins): Promise<Comparison[]> {
  if (scenario.isFresh === true) await both(twins, (twin) => twin.restart())
  const comparisons: Comparison[] = []
  const requests: WireRequest[] = []
  for (const step of scenario.steps) {
    requests.push(...requestsOf(step))
    if (step.kind === 'script') {
      comparisons.push(...(await compareScript(scenario.area, step.script, twins)))
      continue
    }
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

/** One comparison for each request of a script, and one for its timeouts. */
async function compareScript(area: string, script: Script, twins: Twins): Promise<Comparison[]> {
  const [ours, reference] = await both(twins, (twin) => runScript(twin, script))
  const comparisons: Comparison[] = []
  // Later requests of a script may change streams that began before, so each comparison gets all of them.
  const requests = script.flatMap((step) => ('call' in step ? [toRequest(step.call)] : []))
  for (const [index, step] of script.entries()) {
    if (!('call' in step)) continue
    const differences = findDifferences('', ours.readings[index], reference.readings[index])
    comparisons.push({ area, what: 'request', request: toRequest(step.call), requests, differences })
  }
  return [...comparisons, { area, what: 'script', requests, differences: findDifferences('late', ours.late, reference.late) }]
}

function both<T>(twins: Twins, run: (twin: Twin) => Promise<T>): Promise<[T, T]> {
  return Promise.all([run(twins.ours), run(twins.reference)])
}

async function perform(twin: Twin, step: Exclude<Step, { kind: 'script' }>): Promise<Reading | Watched | undefined> {
  if (step.kind === 'request') return readAnswer(await twin.send(step.request), step.request)
  if (step.kind === 'watch') return watchTwin(twin, step.watch)
  await twin.act(step.action)
  return undefined
}

function requestsOf(step: Step): WireRequest[] {
  if (step.kind === 'request') return [step.request]
  return step.kind === 'watch' ? step.watch.steps.flatMap(requestsOf) : []
}
