import type { MessageInitShape } from '@bufbuild/protobuf'
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'
import type { ProcessEventSchema } from '@sandyard/daemon-protocol/process/process_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { LONGEST_TIMER_MS } from '../rpc/normalise-headers.ts'
import type { OutputEvent, Subscription } from './subscription.ts'

export type ProcessEventInit = MessageInitShape<typeof ProcessEventSchema>
type Call = Pick<HandlerContext, 'signal' | 'requestHeader'>

const DEFAULT_KEEPALIVE_SECONDS = 90

/**
 * A process's events as messages of one stream: `start`, then output in order with keepalives in the silences, then `end` (envd.md 8.9).
 * The subscription ends with the call, whether or not anybody still reads: one that nobody takes from would stall the process.
 *
 * @throws AppError `deadline_exceeded` when the call's time is over; the daemon's reason when it shuts down
 */
export async function* relay(pid: number, subscription: Subscription, call: Call): AsyncGenerator<ProcessEventInit> {
  const stop = (): void => subscription.close(reasonToFail(call.signal.reason))
  call.signal.addEventListener('abort', stop)
  try {
    if (call.signal.aborted) stop()
    else yield { event: { case: 'start', value: { pid } } }
    const keepaliveMs = readKeepalive(call.requestHeader)
    while (true) {
      const event = await subscription.next(keepaliveMs)
      if (event === undefined) return
      yield toMessage(event)
      if (event !== 'idle' && event.kind === 'end') return
    }
  } finally {
    call.signal.removeEventListener('abort', stop)
    subscription.close()
  }
}

function toMessage(event: OutputEvent | 'idle'): ProcessEventInit {
  if (event === 'idle') return { event: { case: 'keepalive', value: {} } }
  if (event.kind === 'end') return { event: { case: 'end', value: event.end } }
  return { event: { case: 'data', value: { output: { case: event.kind, value: event.bytes } } } }
}

/** Undefined for a client that went away: nobody is there to be told. */
function reasonToFail(reason: unknown): Error | undefined {
  if (!(reason instanceof ConnectError)) return undefined
  if (reason.code === Code.DeadlineExceeded) return new AppError('deadline_exceeded', 'context deadline exceeded')
  return reason.code === Code.Unavailable ? new AppError('unavailable', reason.rawMessage) : undefined
}

/** The header is in whole seconds; what is no positive number means the default (envd.md 6.7). */
function readKeepalive(headers: Headers): number {
  const text = headers.get('keepalive-ping-interval') ?? ''
  const seconds = /^\d+$/.test(text) ? Number(text) : 0
  return Math.min((seconds || DEFAULT_KEEPALIVE_SECONDS) * 1000, LONGEST_TIMER_MS)
}
