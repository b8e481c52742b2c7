/**
 * The gate: `npm test`. Runs every check and test that can run here, independently of the results of the others, and ends with one line of
 * counts. `--only unit,lint` runs parts of it. In CI (`CI=true`) a skip is a failure.
 */
import { parseArgs } from 'node:util'
import { addCounts, closingLine, exitCode, NOTHING, oneFailed, oneSkipped, refuseSkips, type Counts } from './gate/counts.ts'
import { Preparation } from './gate/preparation.ts'
import { endCommands } from './gate/run-command.ts'
import type { Stage } from './gate/stage.ts'
import { STATIC_STAGES } from './gate/static-stages.ts'
import { TEST_STAGES } from './gate/test-stages.ts'

const STAGES = [...STATIC_STAGES, ...TEST_STAGES]
const IS_CI = process.env['CI'] === 'true'

interface Result {
  readonly name: string
  readonly counts: Counts
  readonly seconds: number
}

function say(line: string): void {
  process.stdout.write(`   ${line}\n`)
}

function chooseStages(args: readonly string[]): readonly Stage[] {
  const { values } = parseArgs({ args: [...args], options: { only: { type: 'string' } } })
  if (values.only === undefined) return STAGES.filter(({ isByHand }) => isByHand !== true)
  const wanted = values.only.split(',')
  const unknown = wanted.filter((name) => !STAGES.some((stage) => stage.name === name))
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}; choose from ${STAGES.map(({ name }) => name).join(', ')}`)
  return STAGES.filter(({ name }) => wanted.includes(name))
}

async function runStage(stage: Stage, preparation: Preparation): Promise<Counts> {
  const missing = await preparation.meet(stage.needs ?? [])
  if (missing !== undefined) {
    say(missing)
    return oneSkipped(stage.name, missing)
  }
  return stage.run({ environment: preparation.environment }).catch((err: unknown) => oneFailed(`${stage.name} (${(err as Error).message})`))
}

async function runTimed(stage: Stage, preparation: Preparation): Promise<Result> {
  const start = performance.now()
  const counts = await runStage(stage, preparation)
  const result = { name: stage.name, counts: IS_CI ? refuseSkips(counts) : counts, seconds: (performance.now() - start) / 1000 }
  say(`${stage.name}: ${closingLine(result.counts)} (${result.seconds.toFixed(1)} s)`)
  return result
}

/** Groups of stages that run side by side. */
function toGroups(stages: readonly Stage[]): Stage[][] {
  const groups: Stage[][] = []
  for (const stage of stages) {
    if (stage.isConcurrent === true && groups.length > 0) groups.at(-1)?.push(stage)
    else groups.push([stage])
  }
  return groups
}

/** The preparations are undone on every exit; an interrupt ends the running stages and skips the others. */
async function runStages(stages: readonly Stage[], signal: AbortSignal): Promise<Result[]> {
  const results: Result[] = []
  await using preparation = new Preparation(say)
  for (const group of toGroups(stages)) {
    if (signal.aborted) break
    process.stdout.write(`\n== ${group.map(({ name }) => name).join(', ')}\n`)
    // On a bare machine the engine takes minutes, mostly for downloads, which run in parallel with the tests that do not need it.
    const [first] = group
    if (first !== undefined && !STATIC_STAGES.includes(first)) {
      preparation.beginEarly(stages.slice(stages.indexOf(first)).flatMap(({ needs = [] }) => needs))
    }
    results.push(...(await Promise.all(group.map(async (stage) => runTimed(stage, preparation)))))
  }
  return results
}

function summarise(results: readonly Result[]): Counts {
  const total = addCounts([NOTHING, ...results.map(({ counts }) => counts)])
  process.stdout.write('\n== summary\n')
  for (const { name, counts, seconds } of results) {
    process.stdout.write(`   ${name.padEnd(12)} ${closingLine(counts).padEnd(40)} ${seconds.toFixed(1).padStart(7)} s\n`)
  }
  for (const skip of total.skips) process.stdout.write(`   skipped: ${skip}\n`)
  for (const failure of total.failures) process.stdout.write(`   FAILED:  ${failure}\n`)
  process.stdout.write(`\n${closingLine(total)}\n`)
  return total
}

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stopping.abort()
    endCommands()
  })
}

try {
  const total = summarise(await runStages(chooseStages(process.argv.slice(2)), stopping.signal))
  process.exitCode = stopping.signal.aborted ? 130 : exitCode(total)
} catch (err) {
  process.stderr.write(`sandyard: ${(err as Error).message}\n`)
  process.exitCode = 2
}
