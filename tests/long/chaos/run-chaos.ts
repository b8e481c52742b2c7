import { setTimeout as delay } from 'node:timers/promises'
import { pollUntil } from '../../../packages/kit/src/async/poll-until.ts'
import { seededRandom } from '../../../packages/test-kit/src/seeded-random.ts'
import { collectYoung } from './after/collect.ts'
import { findLeftovers } from './after/leftovers.ts'
import { removeAll } from './after/remove-all.ts'
import { findUnfinished } from './after/unfinished.ts'
import { verifyClient } from './after/verify.ts'
import { runClient } from './clients/client.ts'
import type { ClientParts } from './clients/client-parts.ts'
import { killParts } from './killer.ts'
import type { ChaosSettings } from './settings.ts'
import type { ChaosStack } from './stack/chaos-stack.ts'
import type { RunResult } from './table.ts'
import type { Tally } from './tally.ts'

/** A lease of a dead server, two passes of the reconciler and the slow calls of a busy machine. */
const CLEAN_TIMEOUT_MS = 180_000
const PROGRESS_MS = 10_000

export interface ChaosRun {
  readonly tally: Tally
  /** Ends the operations early. */
  readonly signal: AbortSignal
}

/** Lets clients work while parts die, then checks all that was acknowledged, deletes it and counts what is left. */
export async function runChaos(stack: ChaosStack, settings: ChaosSettings, { tally, signal }: ChaosRun): Promise<RunResult> {
  const { seed, operations, seconds, killEvery } = settings
  let number = 0
  const clients = Array.from({ length: settings.clients }, (_, index): ClientParts => ({
    index,
    connection: stack.connection,
    random: seededRandom(seed + index + 1),
    tally,
    databaseUrl: stack.postgres.url,
    engineDies: settings.engine,
    sandboxes: [],
    images: [],
    nextNumber: () => (number += 1),
  }))
  const startedAt = performance.now()
  const stop = new AbortController()
  signal.addEventListener('abort', () => stop.abort(), { once: true })
  const stopKilling = new AbortController()
  const killing = killParts({ parts: stack.parts, random: seededRandom(seed), killEvery, tally }, stopKilling.signal)
  // A part that does not start again ends the run.
  killing.catch(() => stop.abort())
  const working = clients.map((client) => runClient(client, stop.signal))
  let toldAt = startedAt
  while (!stop.signal.aborted && tally.operations < operations && performance.now() - startedAt < seconds * 1000) {
    await delay(100)
    if (performance.now() - toldAt < PROGRESS_MS) continue
    toldAt = performance.now()
    console.error(`   ${((toldAt - startedAt) / 1000).toFixed(0)} s: ${tally.operations} operations, ${describe(tally)}`)
  }
  stopKilling.abort()
  await killing
  stop.abort()
  await Promise.all(working)
  const elapsed = (performance.now() - startedAt) / 1000
  console.error(`   ${elapsed.toFixed(0)} s: all parts run again; checking what was acknowledged`)

  await until('the end of all abandoned work', () => findUnfinished(stack.postgres.url)).catch((err: unknown) =>
    tally.orphaned.push(String(err)),
  )
  const untilSettledMs = performance.now() - tally.lastKillAt
  for (const client of clients) await verifyClient(client)

  const known = new Set(clients.flatMap(({ sandboxes, images }) => [...sandboxes.map(({ id }) => id), ...images.map(({ name }) => name)]))
  const unclaimed = await removeAll(stack.connection, known)
  const deletedAt = performance.now()
  await stack.turnOffPool()
  await collectWhenIdle(stack)
  await until('a clean engine', () => findLeftovers(stack)).catch(async () => void tally.orphaned.push(...(await findLeftovers(stack))))
  return {
    seconds: elapsed,
    untilSettledMs,
    untilCleanMs: performance.now() - deletedAt,
    unclaimed: `${unclaimed.sandboxes} sandboxes, ${unclaimed.snapshots} snapshots, ${unclaimed.templates} templates`,
  }
}

/** The ends of sandboxes hold images. */
async function collectWhenIdle(stack: ChaosStack): Promise<void> {
  await until('the end of all sandboxes', () => findUnfinished(stack.postgres.url)).catch(() => undefined)
  await collectYoung(stack)
}

async function until(what: string, find: () => Promise<readonly string[]>): Promise<void> {
  let last: readonly string[] = []
  try {
    await pollUntil({ what, timeoutMs: CLEAN_TIMEOUT_MS, everyMs: 250 }, async () => {
      last = await find()
      return last.length === 0 ? true : undefined
    })
  } catch (err) {
    throw new Error(`timed out waiting for ${what}: ${last.join('; ')}`, { cause: err })
  }
}

function describe({ kills, lost, wrong }: Tally): string {
  return `${[...kills.values()].reduce((sum, count) => sum + count, 0)} kills, ${lost.length} lost, ${wrong.length} wrong`
}
