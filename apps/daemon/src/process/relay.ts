import { isAppError } from '@sandyard/kit/errors/app-error'
import type { StreamCall } from '../rpc/stream-call.ts'
import type { ProcessEvent } from './process-event.ts'
import type { Subscription } from './subscription.ts'

/**
 * The events of one stream: `start`, then the output in order with keepalives in between, then `end` (envd.md 8.9).
 * The subscription ends with the call, because an unread subscription stalls the process.
 *
 * @throws the AppError that the call was aborted with
 */
export async function* relay(pid: number, subscription: Subscription, { signal, keepaliveMs }: StreamCall): AsyncGenerator<ProcessEvent> {
  const stop = (): void => subscription.close(isAppError(signal.reason) ? signal.reason : undefined)
  signal.addEventListener('abort', stop)
  try {
    if (signal.aborted) stop()
    else yield { kind: 'start', pid }
    while (true) {
      const event = await subscription.next(keepaliveMs)
      if (event === undefined) return
      yield event === 'idle' ? { kind: 'keepalive' } : event
      if (event !== 'idle' && event.kind === 'end') return
    }
  } finally {
    signal.removeEventListener('abort', stop)
    subscription.close()
  }
}
