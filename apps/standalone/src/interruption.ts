import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The wish of a person or a service manager that the server ends. */
export interface Interruption {
  readonly signal: AbortSignal
  /** Resolves at the first wish. */
  readonly asked: Promise<void>
}

/** What an interrupted start throws; it is no failure. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Listens for the signals that ask a process to end. The first one asks; the second one ends the process at once. */
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

/** Waits for `work`, but no longer than until the interruption; the work itself is left to end with the process. */
export async function orInterrupted<T>({ signal, asked }: Interruption, work: Promise<T>): Promise<T> {
  const interrupted = asked.then(() => Promise.reject(signal.reason as Error))
  // Whoever loses the race may fail later, and nobody listens then.
  interrupted.catch(() => undefined)
  work.catch(() => undefined)
  signal.throwIfAborted()
  return Promise.race([work, interrupted])
}
