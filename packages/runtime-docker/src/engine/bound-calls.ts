import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { AppError } from '@sandyard/kit/errors/app-error'
import type Docker from 'dockerode'
import { callKind, type CallDeadlines, type EngineCall } from './call-deadlines.ts'

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
 */
export function boundCalls(docker: Docker, deadlines: CallDeadlines): Docker {
  const transport = docker.modem as Transport
  const dial = transport.dial.bind(transport)
  transport.dial = (call, callback) => {
    const { answerMs, idleMs } = deadlines[callKind(call)]
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
