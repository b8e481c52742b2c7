import { killDuringCompose, type KillOutcome, type Progress } from '../../apps/daemon/test/support/compose-kill.ts'

/**
 * Kills the daemon at random moments of a compose: `npm run long:compose-kill [-- count]`. Half of the kills happen between the
 * request and its answer, the others shortly after the destination is replaced.
 */
async function main(kills: number): Promise<void> {
  const whole: KillOutcome[] = []
  for (let run = 0; run < 5; run += 1) whole.push(await killDuringCompose(() => false))
  // The shortest duration: after a slow one most kills would come after the answer.
  const spanMs = Math.min(...whole.map(({ elapsedMs }) => elapsedMs))
  const counts = new Map<string, number>()
  for (let kill = 0; kill < kills; kill += 1) {
    const isTime = kill % 2 === 0 ? atRandom(spanMs) : afterRename(spanMs / 20)
    const kind = describe(await killDuringCompose(isTime, { again: kill % 20 === 0 }))
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  console.log(`${kills} kills, all with an allowed outcome:`)
  for (const [kind, count] of counts) console.log(`  ${count} x ${kind}`)
}

function atRandom(spanMs: number): (progress: Progress) => boolean {
  const killAtMs = Math.random() * spanMs
  return ({ elapsedMs }) => elapsedMs >= killAtMs
}

function afterRename(spanMs: number): (progress: Progress) => boolean {
  const delayMs = Math.random() * spanMs
  let renamedAtMs: number | undefined
  return ({ isRenamed, elapsedMs }) => {
    if (!isRenamed) return false
    renamedAtMs ??= elapsedMs
    return elapsedMs >= renamedAtMs + delayMs
  }
}

function describe({ destination, sourcesLeft, temporaryFiles, wasAnswered }: KillOutcome): string {
  const sources = sourcesLeft === 0 ? 'no' : sourcesLeft === 8 ? 'all' : 'some'
  return `${destination} destination, ${sources} sources, ${temporaryFiles} temporary files${wasAnswered ? ', answered' : ''}`
}

await main(Number(process.argv[2] ?? 300))
