import { Sandbox } from 'e2b'
import { createAndStart, findSandboxContainer, removeContainer } from '../engine.ts'
import { inParallel } from '../in-parallel.ts'
import type { Comparison } from '../report.ts'
import { timeMs } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { waitUntilSteady } from '../warm-pool.ts'
import { withSandbox } from '../with-sandbox.ts'

const AT_ONCE = 50
/** What a pool of the default size has for one template. */
const POOL = 10
/** Creates before the burst, which are the demand that the pool follows. */
const DEMAND = 10

/** 50 creates at once against a pool of 10, compared with as many creates and starts of the engine at once. A create that fails is a failure. */
export async function benchBurst({ metricsUrl }: Settings): Promise<Comparison[]> {
  const image = await withSandbox(async ({ sandboxId }) => (await findSandboxContainer(sandboxId)).Image)
  await atOnce(DEMAND, async () => create())
  const pool = await waitUntilSteady(metricsUrl)
  console.log(`the pool has ${pool?.parked ?? 'no'} sandboxes before the burst\n`)
  const ours = await atOnce(AT_ONCE, async () => create())
  const engine = await atOnce(AT_ONCE, async () => ({ id: await createAndStart(image), end: removeContainer }))
  const first = ours.toSorted((a, b) => a - b).slice(0, POOL)
  const against = { name: 'bare engine', samples: engine }
  return [
    { what: `${AT_ONCE} creates at once`, unit: 'ms', ours, against, goal: { of: 'ratio', at: ['p50', 'p95'], atMost: 1.7 } },
    { what: `the fastest ${POOL} of them`, unit: 'ms', ours: first },
  ]
}

interface Made {
  readonly id: string
  readonly end: (id: string) => Promise<unknown>
}

async function create(): Promise<Made> {
  const { sandboxId } = await Sandbox.create({ timeoutMs: 300_000, requestTimeoutMs: 120_000 })
  return { id: sandboxId, end: (id) => Sandbox.kill(id) }
}

/** Milliseconds of each; what was made is ended afterwards, also after a failure. */
async function atOnce(count: number, make: () => Promise<Made>): Promise<number[]> {
  const made: Made[] = []
  try {
    return await inParallel(Array.from({ length: count }), count, () => timeMs(async () => made.push(await make())))
  } finally {
    await inParallel(made, 4, ({ id, end }) => end(id))
  }
}
