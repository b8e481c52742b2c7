import { setTimeout as delay } from 'node:timers/promises'
import type { Target } from './attack.ts'
import { runInSandbox } from './daemon-call.ts'
import { askService } from './hostile-sandbox.ts'
import { call, callApi } from './http-call.ts'

/** What one kind of request got. */
export interface Served {
  readonly name: string
  /** Milliseconds of each answer, also of a wrong one. */
  readonly waits: readonly number[]
  /** What came in place of the right answer. */
  readonly failures: readonly string[]
}

const PAUSE_MS = 100

/** The requests of somebody who has a sandbox of their own and attacks nobody. */
const REQUESTS: readonly { name: string; right: string; ask: (target: Target, signal: AbortSignal) => Promise<string> }[] = [
  { name: 'health', right: '200', ask: async ({ apiUrl }, signal) => (await call(`${apiUrl}/health`, {}, signal)).status },
  { name: 'list', right: '200', ask: async (target, signal) => (await callApi(target, 'GET /v2/sandboxes', undefined, signal)).status },
  { name: 'command', right: 'exit status 0', ask: (target, signal) => runInSandbox(target, 'true', signal) },
  { name: 'service', right: '200', ask: askService },
]

/** Sends each kind again and again until `stop` is aborted, one of each at a time; one that takes longer than `boundMs` has failed. */
export async function askLikeNeighbour(target: Target, boundMs: number, stop: AbortSignal): Promise<Served[]> {
  return await Promise.all(
    REQUESTS.map(async ({ name, right, ask }) => {
      const waits: number[] = []
      const failures: string[] = []
      do {
        const startedAt = performance.now()
        const answer = await ask(target, AbortSignal.timeout(boundMs))
        const waitedMs = performance.now() - startedAt
        waits.push(waitedMs)
        if (answer !== right) failures.push(`${name}: ${answer} after ${Math.round(waitedMs)} ms`)
        await delay(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined)
      } while (!stop.aborted)
      return { name, waits, failures }
    }),
  )
}
