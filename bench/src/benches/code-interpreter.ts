import { Sandbox } from '@e2b/code-interpreter'
import type { Comparison } from '../report.ts'
import { timeMs } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { readPool, waitForParked, waitUntilSteady } from '../warm-pool.ts'

const TEMPLATE = 'code-interpreter-v1'
const TURNS = 20
const NEXT_CELLS = 5

/** The first cell in a sandbox of the warm pool, whose Python kernel runs already, compared with the cells after it. Nothing without the template. */
export async function benchCodeInterpreter(settings: Settings): Promise<Comparison[]> {
  if (!(await isInstalled(settings))) {
    console.log(`${TEMPLATE} is not installed (sandyard templates install ${TEMPLATE}): not measured\n`)
    return []
  }
  // The first creates are the demand that the pool follows.
  for (let turn = 0; turn < 2; turn++) await (await Sandbox.create({ timeoutMs: 60_000 })).kill()
  const full = await waitUntilSteady(settings.metricsUrl)
  const claimedBefore = full?.claimed ?? 0
  const [first, next]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < TURNS; turn++) {
    if (full !== undefined) await waitForParked(settings.metricsUrl, full.parked)
    const sandbox = await Sandbox.create({ timeoutMs: 60_000 })
    first.push(await timeMs(async () => expectTwo(await sandbox.runCode('1 + 1'))))
    for (let cell = 0; cell < NEXT_CELLS; cell++) next.push(await timeMs(async () => expectTwo(await sandbox.runCode('1 + 1'))))
    await sandbox.kill()
  }
  const claimed = ((await readPool(settings.metricsUrl))?.claimed ?? 0) - claimedBefore
  console.log(`the pool served ${claimed} of ${TURNS} creates\n`)
  const against = { name: 'next cells', samples: next }
  return [{ what: 'first cell after a create', unit: 'ms', ours: first, against, goal: { of: 'ours', at: ['p50'], atMost: 100 } }]
}

function expectTwo({ text }: { readonly text?: string | undefined }): void {
  if (text !== '2') throw new Error(`the cell gave ${text}`)
}

async function isInstalled({ apiUrl, apiKey }: Settings): Promise<boolean> {
  const answer = await fetch(`${apiUrl}/ready-made-templates`, { headers: { 'x-api-key': apiKey } })
  if (!answer.ok) throw new Error(`the list of ready-made templates was answered ${answer.status}`)
  const templates = (await answer.json()) as readonly { readonly name: string; readonly state: string }[]
  return templates.some(({ name, state }) => name === TEMPLATE && state === 'installed')
}
