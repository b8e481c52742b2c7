import { findDifferences } from './compare/difference.ts'
import { runScenario, type Comparison, type Twins } from './run-scenario.ts'
import type { Scenario } from './scenario.ts'

type Trees = readonly [ours: Awaited<ReturnType<Twins['ours']['snapshot']>>, reference: Awaited<ReturnType<Twins['ours']['snapshot']>>]

/** Runs the scenarios one after another, each on the prepared tree, and yields the comparisons. */
export async function* runScenarios(scenarios: Iterable<Scenario>, twins: Twins): AsyncGenerator<Comparison> {
  await reset(twins)
  const prepared = await look(twins)
  for (const scenario of scenarios) {
    const comparisons = await runScenario(scenario, twins)
    yield* comparisons
    const trees = await look(twins)
    const requests = comparisons.at(-1)?.requests ?? []
    yield { area: scenario.area, what: 'tree', requests, differences: compareTrees(trees) }
    if (trees.some(({ alive }) => !alive) || scenario.isFresh === true) await Promise.all([twins.ours.restart(), twins.reference.restart()])
    const isTouched = trees.some((tree, side) => findDifferences('', tree.tree, prepared[side]?.tree).length > 0)
    if (isTouched) await reset(twins)
  }
}

async function look({ ours, reference }: Twins): Promise<Trees> {
  return Promise.all([ours.snapshot(), reference.snapshot()])
}

async function reset({ ours, reference }: Twins): Promise<void> {
  await Promise.all([ours.reset(), reference.reset()])
}

function compareTrees([ours, reference]: Trees) {
  return [...findDifferences('tree', ours.tree, reference.tree), ...findDifferences('alive', ours.alive, reference.alive)]
}
