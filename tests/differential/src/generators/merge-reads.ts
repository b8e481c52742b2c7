import type { Scenario, Step } from '../scenario.ts'

const MOST = 40

/** Joins reading requests of one area into one scenario, so that their files are compared once. */
export function* mergeReads(scenarios: Iterable<Scenario>): Generator<Scenario> {
  let open: Step[] = []
  let area = ''
  for (const scenario of scenarios) {
    const isRead = scenario.isFresh !== true && scenario.steps.every(isReadStep)
    if (open.length > 0 && (!isRead || scenario.area !== area || open.length >= MOST)) {
      yield { area, steps: open }
      open = []
    }
    if (!isRead) {
      yield scenario
      continue
    }
    area = scenario.area
    open.push(...scenario.steps)
  }
  if (open.length > 0) yield { area, steps: open }
}

function isReadStep(step: Step): boolean {
  if (step.kind === 'script') return step.isRead
  if (step.kind !== 'request') return false
  const { method, target } = step.request
  return (
    method === 'GET' ||
    method === 'OPTIONS' ||
    /^\/filesystem\.Filesystem\/(Stat|ListDir|WatchDir|GetWatcherEvents|CreateWatcher)$/.test(target)
  )
}
