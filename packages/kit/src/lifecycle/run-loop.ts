import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../logging/create-logger.ts'

export interface LoopOptions {
  readonly name: string
  readonly everyMs: number
  readonly log: Logger
}

export interface Loop extends AsyncDisposable {
  /** Runs the task now if it is idle, else once more directly after the current run. */
  wake(): void
  /** Stops after the current run. */
  stop(): Promise<void>
}

/**
 * Runs `task` periodically, one run at a time. A failed run is logged and the loop continues. Intervals vary by a tenth, so
 * that the loops of several servers do not run at the same time.
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
