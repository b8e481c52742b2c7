import { Sandbox } from 'e2b'
import type { Comparison } from '../report.ts'
import { timeMs, type Samples } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { buildTemplate, removeTemplate } from '../template-build.ts'
import { readPool, waitForParked, waitUntilSteady } from '../warm-pool.ts'

/** Templates whose sandboxes wait, besides `base`. */
const WARM_TEMPLATES = 2
/** Creates of each warm template. */
const TURNS = 15
/** Creates that no sandbox waits for: each is the first one of its template. */
const COLD = 10

interface Commands {
  readonly first: number[]
  readonly second: number[]
}

/**
 * Creates from the warm pool of several templates, compared with creates in the same run that the pool has nothing for. Without a pool, or
 * without a metrics page that shows it, the rows compare two cold creates, and a line says so.
 */
export async function benchWarm(settings: Settings): Promise<Comparison[]> {
  const { metricsUrl } = settings
  await using templates = new AsyncDisposableStack()
  const build = async (name: string): Promise<string> => {
    const id = await buildTemplate(settings, name, { fromTemplate: 'base' }, ['touch /warm'])
    templates.defer(() => removeTemplate(settings, id))
    return id
  }
  const run = Date.now().toString(36)
  const warm = ['base', ...(await buildEach(WARM_TEMPLATES, (index) => build(`bench-warm-${run}-${index}`)))]
  const unused = await buildEach(COLD, (index) => build(`bench-cold-${run}-${index}`))
  // The first creates are the demand that the pool follows.
  for (const template of [...warm, ...warm]) await timeCreate(template)
  const full = await waitUntilSteady(metricsUrl)
  const [fromPool, cold]: [number[], number[]] = [[], []]
  const commands: Commands = { first: [], second: [] }
  const claimedBefore = (await readPool(metricsUrl))?.claimed ?? 0
  for (let turn = 0; turn < TURNS; turn++) {
    if (full !== undefined) await waitForParked(metricsUrl, full.parked)
    for (const template of warm) fromPool.push(await timeCreate(template, commands))
  }
  const claimed = ((await readPool(metricsUrl))?.claimed ?? 0) - claimedBefore
  console.log(`the pool served ${claimed} of ${fromPool.length} creates of ${warm.length} templates\n`)
  // After the others: what the pool starts for these would count as parked, and the next warm create would find nothing.
  for (const template of unused) {
    cold.push(await timeCreate(template))
    // Otherwise the pool would start sandboxes of it, beside the next measured creates.
    await removeTemplate(settings, template)
  }
  const [ours, against] = [commands.first, { name: 'the second one', samples: commands.second }]
  return [...toComparisons(fromPool, cold), { what: 'first command in a sandbox of the warm pool', unit: 'ms', ours, against }]
}

function toComparisons(fromPool: Samples, cold: Samples): Comparison[] {
  const what = 'create from the warm pool'
  const against = { name: 'cold create', samples: cold }
  return [
    { what, unit: 'ms', ours: fromPool, goal: { of: 'ours', at: ['p50'], atMost: 20 } },
    { what: `${what}, the slowest ones`, unit: 'ms', ours: fromPool, goal: { of: 'ours', at: ['p99'], atMost: 80 } },
    {
      what: `${what}, beside one that it has nothing for`,
      unit: 'ms',
      ours: fromPool,
      against,
      goal: { of: 'ratio', at: ['p50'], atMost: 0.1 },
    },
  ]
}

async function buildEach<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  for (let index = 0; index < count; index++) made.push(await make(index))
  return made
}

/** Times a create. With `commands`, also the first two commands in the sandbox. */
async function timeCreate(template: string, commands?: Commands): Promise<number> {
  const start = performance.now()
  const sandbox = await Sandbox.create(template, { timeoutMs: 60_000 })
  const ms = performance.now() - start
  commands?.first.push(await timeMs(() => sandbox.commands.run('true')))
  commands?.second.push(await timeMs(() => sandbox.commands.run('true')))
  await sandbox.kill()
  return ms
}
