import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../logging/create-logger.ts'

export interface LoopOptions {
  readonly name: string
  readonly everyMs: number
  readonly log: Logger
}

export interface Loop extends AsyncDisposable {
  /** Runs the task now if it is idle, else once more right after the run that is under way. */
  wake(): void
  /** Stops after the run that is under way. */
  stop(): Promise<void>
}

/**
 * Runs `task` periodically and never twice at once. A run that fails is logged and the loop goes on: loops repair
 * what requests left behind, so none of them may end early. Intervals vary by a tenth, so that replicas spread.
 */
export function runLoop({ name, everyMs, log }: LoopOptions, task: (signal: AbortSignal) => Promise<unknown>): Loop {
  const stopping = new AbortController()
  let wakeUp = new AbortController()

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      wakeUp = new AbortController()
      try {
        await task(stopping.signal)
      } catch (err) {
        if (!stopping.signal.aborted) log.error({ err, loop: name }, 'loop run failed')
      }
      const pause = everyMs * (0.95 + Math.random() * 0.1)
      await delay(pause, undefined, { signal: AbortSignal.any([stopping.signal, wakeUp.signal]) }).catch(() => undefined)
    }
  }

  const ended = loop()
  const stop = async (): Promise<void> => {
    stopping.abort()
    await ended
  }
  return { wake: () => wakeUp.abort(), stop, [Symbol.asyncDispose]: stop }
}
