import { setTimeout as delay } from 'node:timers/promises'
import type { Target } from './attack.ts'
import { runInSandbox } from './daemon-call.ts'
import { askService } from './hostile-sandbox.ts'
import { call, callApi } from './http-call.ts'

/** The answers to one kind of request. */
export interface Served {
  readonly name: string
  /** The duration of each answer in milliseconds, also of wrong ones. */
  readonly waits: readonly number[]
  /** The wrong answers. */
  readonly failures: readonly string[]
}

const PAUSE_MS = 100

/** The requests of another user, who has a sandbox and does not attack. */
const REQUESTS: readonly { name: string; right: string; ask: (target: Target, signal: AbortSignal) => Promise<string> }[] = [
  { name: 'health', right: '200', ask: async ({ apiUrl }, signal) => (await call(`${apiUrl}/health`, {}, signal)).status },
  { name: 'list', right: '200', ask: async (target, signal) => (await callApi(target, 'GET /v2/sandboxes', undefined, signal)).status },
  { name: 'command', right: 'exit status 0', ask: (target, signal) => runInSandbox(target, 'true', signal) },
  { name: 'service', right: '200', ask: askService },
]

/** Repeats each kind of request, one at a time, until `stop` is aborted. A request that takes longer than `boundMs` counts as failed. */
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
