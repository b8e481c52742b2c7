import { setTimeout as delay } from 'node:timers/promises'
import { Sandbox } from 'e2b'
import { findInstallation } from '../engine.ts'
import { inParallel } from '../in-parallel.ts'
import { takeInventory, type Inventory } from '../leftovers.ts'
import type { Comparison } from '../report.ts'
import { timeMs } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { waitUntilSteady } from '../warm-pool.ts'
import { withSandbox } from '../with-sandbox.ts'

const TIMES = 1000
const WIDTH = 4
/** Of the whole, before the first inventory: connections are open then, and code is compiled. */
const WARM_UP_SHARE = 0.1
const SETTLE_DEADLINE_MS = 60_000
const LOOK_EVERY_MS = 2000
/** Kinds that may differ by as much, because connections and memory follow the load of the last seconds. */
const TOLERATED: Readonly<Record<string, number>> = { descriptors: 20, sockets: 20, 'private memory of the server, MiB': 60 }

/** 1,000 creates and kills, four at once: what they take, and what is left of them. */
export async function benchChurn(settings: Settings): Promise<Comparison[]> {
  const { count = TIMES } = settings
  const installation = await withSandbox(({ sandboxId }) => findInstallation(sandboxId))
  await churn(Math.ceil(count * WARM_UP_SHARE))
  const before = await takeSettled(settings, installation)
  const { creates, kills } = await churn(count)
  const after = await takeSettled(settings, installation, before)
  const left = Object.keys(before).map((kind): Comparison => {
    const more = (after[kind] ?? 0) - (before[kind] ?? 0)
    const what = `${kind} left by ${count} sandboxes (${round(before[kind])} before, ${round(after[kind])} after)`
    return { what, unit: 'count', ours: [more], goal: { of: 'ours', at: ['p50'], atMost: TOLERATED[kind] ?? 0 } }
  })
  return [
    { what: `create, ${WIDTH} at once, ${count} times`, unit: 'ms', ours: creates },
    { what: 'kill of it', unit: 'ms', ours: kills },
    ...left,
  ]
}

async function churn(times: number): Promise<{ creates: number[]; kills: number[] }> {
  const [creates, kills]: [number[], number[]] = [[], []]
  await inParallel(Array.from({ length: times }), WIDTH, async () => {
    let sandbox: Sandbox | undefined
    creates.push(await timeMs(async () => (sandbox = await Sandbox.create({ timeoutMs: 120_000 }))))
    kills.push(await timeMs(async () => await sandbox?.kill()))
  })
  return { creates, kills }
}

/** The inventory when the removals have ended; with `wanted`, when nothing is left beyond it, or at the deadline. */
async function takeSettled(settings: Settings, installation: string, wanted?: Inventory): Promise<Inventory> {
  await waitUntilSteady(settings.metricsUrl)
  const until = performance.now() + SETTLE_DEADLINE_MS
  let former: Inventory | undefined
  for (;;) {
    const now = await takeInventory(settings, installation)
    const isClean = wanted === undefined ? now['containers'] === former?.['containers'] : isWithin(now, wanted)
    if (isClean || performance.now() > until) return now
    former = now
    await delay(LOOK_EVERY_MS)
  }
}

function isWithin(now: Inventory, wanted: Inventory): boolean {
  return Object.entries(wanted).every(([kind, count]) => (now[kind] ?? 0) - count <= (TOLERATED[kind] ?? 0))
}

function round(value: number | undefined): number {
  return Math.round(value ?? 0)
}
