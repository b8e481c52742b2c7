import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../logging/create-logger.ts'

export interface LoopOptions {
  readonly name: string
  /** The pause between the end of a run and the next one. */
  readonly everyMs: number
  readonly log: Logger
}

export interface Loop extends AsyncDisposable {
  /** Runs the task now if it is idle, else once more directly after the current run. */
  wake(): void
  /** Stops after the current run. */
  stop(): Promise<void>
}

/** The part by which pauses are longer or shorter than `everyMs`. */
export const PAUSE_JITTER = 0.05

/**
 * Runs `task` periodically, one run at a time. A failed run is logged and the loop continues. Pauses vary, so
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
      const pause = everyMs * (1 + PAUSE_JITTER * (2 * Math.random() - 1))
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
