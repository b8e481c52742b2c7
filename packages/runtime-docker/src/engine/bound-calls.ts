import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { startSpan } from '@sandyard/kit/tracing/span'
import type Docker from 'dockerode'
import { callKind, type CallDeadlines, type CallKind, type EngineCall } from './call-deadlines.ts'

type Callback = (err: unknown, answer: unknown) => void

interface Dial extends EngineCall {
  readonly abortSignal?: AbortSignal | undefined
}

interface Transport {
  dial(call: Dial, callback: Callback): void
}

/** How often the silence of a stream is checked within its deadline. */
const LOOKS_PER_DEADLINE = 4

/**
 * Gives every call of this connection a deadline; all calls of dockerode go through this one method. After the deadline the wait ends and
 * the connection is closed; the engine may continue the work. A late call rejects with `deadline_exceeded`, an aborted one with the
 * abort reason. A stream that is silent for too long is destroyed with `deadline_exceeded`.
 *
 * Each call is a line of the log at level debug, and a span of the request that it is made for.
 */
export function boundCalls(docker: Docker, deadlines: CallDeadlines, log?: Logger): Docker {
  const transport = docker.modem as Transport
  const dial = transport.dial.bind(transport)
  transport.dial = (call, callback) => {
    const kind = callKind(call)
    const { answerMs, idleMs } = deadlines[kind]
    const report = reportCall(call, kind, log)
    const name = `${call.method} ${call.path}`
    const ending = new AbortController()
    const { abortSignal: caller } = call
    const onAbort = (): void => ending.abort(caller?.reason)
    const timer = setTimeout(() => ending.abort(isLate(`${name}: no answer within ${answerMs} ms`)), answerMs)
    let isSettled = false
    const settle: Callback = (err, answer) => {
      if (isSettled) return drop(answer)
      isSettled = true
      clearTimeout(timer)
      report(err)
      if (isStream(answer)) {
        answer.once('close', () => caller?.removeEventListener('abort', onAbort))
        if (idleMs !== undefined) endWhenSilent(answer, idleMs, name)
      } else {
        caller?.removeEventListener('abort', onAbort)
      }
      callback(err, answer)
    }
    // The transport does not call back when the connection closes in the middle of an answer.
    ending.signal.addEventListener('abort', () => settle(ending.signal.reason, null), { once: true })
    if (caller?.aborted === true) return onAbort()
    caller?.addEventListener('abort', onAbort, { once: true })
    dial({ ...call, abortSignal: ending.signal }, settle)
  }
  return docker
}

/** Logs the path without the query, which may contain secrets of a build. The log line has the fields of the request that made the call. */
function reportCall({ method, path }: Dial, kind: CallKind, log: Logger | undefined): (err: unknown) => void {
  const [plain = ''] = path.split('?')
  const span = startSpan(`engine ${method} ${plain.split('/')[1] ?? ''}`, 'client', {
    'http.request.method': method,
    'url.path': plain,
    'sandyard.call': kind,
  })
  const isLogged = log?.isLevelEnabled('debug') === true
  if (span === undefined && !isLogged) return () => undefined
  const began = performance.now()
  const caller = AsyncLocalStorage.snapshot()
  return (err) => {
    span?.end(err ?? undefined)
    if (isLogged)
      caller(() =>
        log.debug({ call: `${method} ${plain}`, ms: Math.round(performance.now() - began), err: err ?? undefined }, 'engine call'),
      )
  }
}

function isLate(detail: string): AppError {
  return new AppError('deadline_exceeded', 'The Docker engine did not answer in time.', { cause: new Error(detail) })
}

function isStream(answer: unknown): answer is Readable {
  return typeof (answer as Partial<Readable> | null)?.pipe === 'function'
}

function drop(answer: unknown): void {
  if (isStream(answer)) answer.destroy()
}

/** Counts the bytes of the connection, so that nothing has to read the stream for this check. */
function endWhenSilent(stream: Readable & { socket?: Socket }, idleMs: number, name: string): void {
  const { socket } = stream as IncomingMessage
  let seen = socket.bytesRead
  let silentSince = performance.now()
  const look = setInterval(() => {
    if (socket.bytesRead !== seen) {
      seen = socket.bytesRead
      silentSince = performance.now()
    } else if (performance.now() - silentSince >= idleMs) {
      stream.destroy(isLate(`${name}: silent for ${idleMs} ms`))
    }
  }, idleMs / LOOKS_PER_DEADLINE).unref()
  stream.once('close', () => clearInterval(look))
}
