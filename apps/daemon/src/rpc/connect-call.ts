import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'
import { AppError } from '@sandyard/kit/errors/app-error'
import { basicUserKey } from './basic-user-key.ts'
import { DEADLINE_EXCEEDED, readTimes, SHUTTING_DOWN, type StreamCall } from './stream-call.ts'

/** A call of the library's, in the daemon's own terms. */
export function toStreamCall({ requestHeader, signal, values }: HandlerContext): StreamCall {
  const stop = new AbortController()
  const onAbort = (): void => stop.abort(toReason(signal.reason))
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return { ...readTimes((name) => requestHeader.get(name)), signal: stop.signal, basicUser: values.get(basicUserKey) }
}

function toReason(reason: unknown): unknown {
  if (!(reason instanceof ConnectError)) return 'the client is gone'
  if (reason.code === Code.DeadlineExceeded) return new AppError(...DEADLINE_EXCEEDED)
  return reason.code === Code.Unavailable ? new AppError(...SHUTTING_DOWN) : reason
}
