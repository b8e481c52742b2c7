import { DaemonCallError } from './daemon-call-error.ts'

/** Daemons send a message at least this often when they are asked to (envd.md 6.7). */
const KEEPALIVE_SECONDS = 20
const SILENCE_MS = 50_000

export const KEEPALIVE_HEADERS = { 'keepalive-ping-interval': String(KEEPALIVE_SECONDS) } as const

/**
 * Ends a stream that has been silent for too long. A frozen sandbox closes no connection.
 *
 * @param abort - ends the call
 */
export async function* endWhenSilent<T>(events: AsyncIterable<T>, abort: (reason: Error) => void): AsyncGenerator<T> {
  const timer = setTimeout(() => abort(new DaemonCallError('unavailable', 'the daemon is silent')), SILENCE_MS)
  try {
    for await (const event of events) {
      timer.refresh()
      yield event
      // A reader that takes its time is not the daemon's silence.
      timer.refresh()
    }
  } finally {
    clearTimeout(timer)
  }
}
