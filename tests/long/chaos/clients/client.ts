import { setTimeout as delay } from 'node:timers/promises'
import { e2b251 } from '../../../acceptance/support/sdks.ts'
import { build, create, SANDBOX_ACTIONS } from './actions.ts'
import { pick, type ClientParts } from './client-parts.ts'
import { isReportedEnd } from './reported-end.ts'
import { Lost, WrongAnswer, type KnownSandbox } from './known-sandbox.ts'

type Name = keyof typeof SANDBOX_ACTIONS

const MAX_SANDBOXES = 4
const MAX_IMAGES = 6
/** A client that is refused waits this long. */
const BACK_OFF_MS = 200
/** The longest that a sandbox may be in a transition of a server that has died, with much to spare on a slow machine. */
const SETTLE_TIMEOUT_MS = 180_000

/** Shares of a hundred operations on sandboxes that run. */
const SHARES: readonly (readonly [Name, number])[] = [
  ['command', 24],
  ['write', 14],
  ['read', 16],
  ['pause', 13],
  ['connect', 4],
  ['snapshot', 4],
  ['fork', 3],
  ['kill', 10],
  ['network', 6],
  ['info', 6],
]
const ALL = SHARES.flatMap(([name, share]) => Array.from({ length: share }, () => name))

/** Works on sandboxes of its own until `signal` aborts, and checks every answer against what was acknowledged before. */
export async function runClient(parts: ClientParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const unsure = parts.sandboxes.find(({ state, isKillSent }) => state === 'unsure' || isKillSent)
    if (unsure !== undefined) await settle(parts, unsure)
    else await act(parts)
  }
}

async function act(parts: ClientParts): Promise<void> {
  const { images, random, sandboxes } = parts
  const chance = random(100)
  if (sandboxes.length === 0 || (sandboxes.length < MAX_SANDBOXES && chance < 18)) return attempt(parts, 'create', () => create(parts))
  if (chance === 99 && images.length < MAX_IMAGES) return attempt(parts, 'build', () => build(parts))
  const known = pick(random, sandboxes)
  if (known.state === 'paused') return onSandbox(parts, known, random(5) === 0 ? 'info' : 'connect')
  const name = pick(random, ALL)
  if (name === 'snapshot' && images.length >= MAX_IMAGES) return onSandbox(parts, known, 'read')
  await onSandbox(parts, known, sandboxes.length > MAX_SANDBOXES ? 'kill' : name)
}

/** Repeats a call whose outcome decides what the sandbox is, until it is answered. */
export async function settle(parts: ClientParts, known: KnownSandbox): Promise<void> {
  const deadline = performance.now() + SETTLE_TIMEOUT_MS
  while (parts.sandboxes.includes(known) && (known.state === 'unsure' || known.isKillSent)) {
    await onSandbox(parts, known, known.isKillSent ? 'kill' : 'connect')
    if (performance.now() < deadline) continue
    parts.tally.lost.push(`the sandbox ${known.id}: nothing has settled it for ${SETTLE_TIMEOUT_MS / 1000} s`)
    parts.sandboxes.splice(parts.sandboxes.indexOf(known), 1)
  }
}

async function onSandbox(parts: ClientParts, known: KnownSandbox, name: Name): Promise<void> {
  await attempt(parts, name, async () => {
    try {
      await SANDBOX_ACTIONS[name](parts, known)
    } catch (err) {
      if (err instanceof WrongAnswer || err instanceof Lost) throw err
      if (err instanceof e2b251.SandboxNotFoundError) await checkAbsence(parts, known, err)
      const wasRunning = known.state === 'running' && !known.isKillSent
      if (name !== 'info' && name !== 'read') known.state = 'unsure'
      // One that a killed engine has ended is reported by the API a little later.
      if (wasRunning && !parts.engineDies && isProxysNotFound(err)) throw new WrongAnswer(`the proxy did not find ${known.id}, which runs`)
      throw err
    }
  })
}

/** A sandbox that no call has killed must be there, unless the server reports its end. */
async function checkAbsence(parts: ClientParts, known: KnownSandbox, cause: unknown): Promise<void> {
  const { connection, sandboxes } = parts
  const found = await e2b251.Sandbox.getInfo(known.id, connection).catch((err: unknown) => err)
  if (!(found instanceof e2b251.NotFoundError)) return
  sandboxes.splice(sandboxes.indexOf(known), 1)
  if (!known.isKillSent && !(await isReportedEnd(parts, known.id))) throw new Lost(`the sandbox ${known.id}`, { cause })
}

/** The SDKs make a timeout of the proxy's 502. */
function isProxysNotFound(err: unknown): boolean {
  return err instanceof e2b251.TimeoutError && err.message.includes('The sandbox was not found')
}

async function attempt({ tally }: ClientParts, name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
    tally.acknowledged(name)
  } catch (err) {
    if (err instanceof Lost) tally.lost.push(err.message)
    else if (err instanceof WrongAnswer) tally.wrong.push(err.message)
    tally.failed(name, err)
    await delay(BACK_OFF_MS)
  }
}
