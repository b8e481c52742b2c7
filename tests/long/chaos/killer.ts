import { setTimeout as delay } from 'node:timers/promises'
import { pollUntil } from '../../../packages/kit/src/async/poll-until.ts'
import type { Random } from '../../../packages/test-kit/src/seeded-random.ts'
import type { Part, PartKind } from './stack/part.ts'
import type { Tally } from './tally.ts'

export interface KillerOptions {
  readonly parts: readonly Part[]
  readonly random: Random
  /** Operations between two kills, on average. */
  readonly killEvery: number
  readonly tally: Tally
}

/** How long a killed part is away: a service manager starts it again at once, a machine needs longer. */
const MAX_AWAY_MS = 2000
const FOREVER_MS = 2 ** 31 - 1

/**
 * Kills one random part after another until `signal` aborts, each after some more operations. The next one dies only when the last one serves
 * again. Every kind is killed equally often.
 */
export async function killParts({ parts, random, killEvery, tally }: KillerOptions, signal: AbortSignal): Promise<void> {
  const kinds = [...new Set(parts.map(({ kind }) => kind))]
  let bag: PartKind[] = []
  while (!signal.aborted) {
    const next = tally.operations + 1 + random(killEvery * 2 - 1)
    try {
      await pollUntil({ what: 'the next kill', timeoutMs: FOREVER_MS, everyMs: 5, signal }, () =>
        tally.operations >= next ? true : undefined,
      )
    } catch {
      return
    }
    if (bag.length === 0) bag = [...kinds]
    const [kind] = bag.splice(random(bag.length), 1)
    const group = parts.filter((part) => part.kind === kind)
    const victim = group[random(group.length)]
    if (victim === undefined) continue
    // Somewhere in the middle of the operations in flight.
    await delay(random(300))
    await victim.kill()
    tally.killed(victim.kind)
    await delay(random(MAX_AWAY_MS))
    await victim.restart()
  }
}
