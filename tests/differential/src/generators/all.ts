import { Random } from '../random.ts'
import type { Scenario } from '../scenario.ts'
import { accessScenarios } from './access.ts'
import { composeScenarios } from './composes.ts'
import { mergeReads } from './merge-reads.ts'
import { downloadScenarios } from './downloads.ts'
import { metadataScenarios } from './file-metadata.ts'
import { formScenarios } from './forms.ts'
import { moveScenarios } from './moves.ts'
import { commandScenarios } from './processes/commands.ts'
import { inputScenarios } from './processes/inputs.ts'
import { lifetimeScenarios } from './processes/lifetimes.ts'
import { processMessageScenarios } from './processes/messages.ts'
import { selectorScenarios } from './processes/selectors.ts'
import { processSequences } from './processes/sequences.ts'
import { surroundingScenarios } from './processes/surroundings.ts'
import { terminalScenarios } from './processes/terminals.ts'
import { protocolScenarios } from './protocol.ts'
import { queryScenarios } from './queries.ts'
import { routeScenarios } from './routes.ts'
import { rpcBodyScenarios } from './rpc-bodies.ts'
import { sequenceScenarios } from './sequences.ts'
import { singlePathScenarios } from './single-paths.ts'
import { uploadScenarios } from './uploads.ts'
import { userScenarios } from './users.ts'
import { watchScenarios } from './watches.ts'

/** Tables of scenarios that every run executes completely. */
const TABLES = [
  [singlePathScenarios, moveScenarios, downloadScenarios, queryScenarios, uploadScenarios, formScenarios, metadataScenarios],
  [composeScenarios, userScenarios, accessScenarios, routeScenarios, protocolScenarios, rpcBodyScenarios, watchScenarios],
  [
    commandScenarios,
    surroundingScenarios,
    terminalScenarios,
    inputScenarios,
    selectorScenarios,
    lifetimeScenarios,
    processMessageScenarios,
  ],
].flat()

/** The approximate number of requests in a script. */
const STEPS_OF_SCRIPT = 10

export interface Choice {
  readonly seed: number
  /** The number of random requests after the tables. */
  readonly count: number
  /** Selects areas whose name contains this; all areas if empty. */
  readonly only: string
}

/** All scenarios in the order in which they run. */
export function generateScenarios(choice: Choice): Generator<Scenario> {
  return mergeReads(listScenarios(choice))
}

function* listScenarios({ seed, count, only }: Choice): Generator<Scenario> {
  for (const table of TABLES) for (const scenario of table()) if (scenario.area.includes(only)) yield scenario
  if ('process sequences'.includes(only)) yield* some(processSequences(new Random(seed)), Math.ceil(count / STEPS_OF_SCRIPT))
  if ('sequences'.includes(only)) yield* some(sequenceScenarios(new Random(seed)), count)
}

/** The first scenarios that have `count` steps in total. */
function* some(scenarios: Iterable<Scenario>, count: number): Generator<Scenario> {
  let left = count
  for (const scenario of scenarios) {
    if (left <= 0) return
    left -= scenario.steps.length
    yield scenario
  }
}
