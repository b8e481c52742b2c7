import type { Scenario } from '../scenario.ts'
import { singlePathScenarios } from './single-paths.ts'

export function* generateScenarios({
  only,
}: {
  readonly seed: number
  readonly count: number
  readonly only: string
}): Generator<Scenario> {
  for (const scenario of singlePathScenarios()) if (scenario.area.includes(only)) yield scenario
}
