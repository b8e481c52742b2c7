import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A request by signal to end the server. */
export interface Interruption {
  readonly signal: AbortSignal
  /** Resolves at the first signal. */
  readonly asked: Promise<void>
}

/** Thrown by an interrupted start; it is not a failure. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Listens for the signals that end a process. The second signal ends it at once. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController()
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(128 + constants.signals[name])
      controller.abort(new Interrupted('interrupted'))
    })
  }
  const { signal } = controller
  const asked = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  return { signal, asked }
}

/** Waits for `work` until an interruption. The work itself is not cancelled; it ends with the process. */
export async function orInterrupted<T>({ signal, asked }: Interruption, work: Promise<T>): Promise<T> {
  const interrupted = asked.then(() => Promise.reject(signal.reason as Error))
  // The promise that loses the race may reject after the wait has ended.
  interrupted.catch(() => undefined)
  work.catch(() => undefined)
  signal.throwIfAborted()
  return Promise.race([work, interrupted])
}
