import { request, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { Transform, type TransformCallback } from 'node:stream'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'

export interface ServiceCall {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly key: Secret
  readonly headers: OutgoingHttpHeaders
  /** The JSON of a request, or a body that is passed on as it comes. */
  readonly body?: string | IncomingMessage | undefined
  /** Awaited before the next bytes of a body are passed on; its failure ends the request. */
  readonly admit?: ((bytes: number) => Promise<void>) | undefined
  /** Without a byte in either direction. */
  readonly idleTimeoutMs: number
  /** Of the whole exchange. */
  readonly timeoutMs: number
}

const KEY_HEADER = 'x-sandyard-volume-key'
/** How long a client may go on sending a body after its answer, which it may not read before. */
const DRAIN_TIMEOUT_MS = 60_000

/**
 * Sends a request to a file service over a connection that is then used up.
 *
 * @returns the head of the answer; who reads its body to the end, or destroys it, ends the connection
 * @throws AppError `unavailable` when the connection breaks, `deadline_exceeded`, `canceled` when the sender of the body is gone
 */
export async function callService(socket: Socket, options: ServiceCall): Promise<IncomingMessage> {
  const { method, path, key, headers, body, admit, idleTimeoutMs, timeoutMs } = options
  const late = (): void => void socket.destroy(new AppError('deadline_exceeded', 'The file service of the volume took too long'))
  const total = setTimeout(late, timeoutMs)
  socket.once('close', () => clearTimeout(total))
  socket.setTimeout(idleTimeoutMs, late)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const call = request({
    method,
    path,
    // With `close` the service would reset the connection of a body that it refuses, and its answer could be lost.
    headers: { ...headers, host: 'volume', connection: 'keep-alive', [KEY_HEADER]: key.reveal() },
    createConnection: () => socket,
  })
  call.once('response', resolve)
  call.on('error', (err) => reject(toCallError(err)))
  if (typeof body === 'object') relay(body, call, admit)
  else call.end(body)
  const answer = await promise
  for (const event of ['end', 'close'] as const) answer.once(event, () => socket.destroy())
  return answer
}

/** Passes a body on until it ends or the answer comes: then the rest is dropped, because clients read answers only after they have sent all. */
function relay(body: IncomingMessage, call: ClientRequest, admit: ServiceCall['admit']): void {
  const way = admit === undefined ? call : admitting(call, admit)
  const onClose = (): void => {
    if (!body.complete) call.destroy(new AppError('canceled', 'The upload was cut off'))
  }
  body.once('close', onClose)
  body.pipe(way)
  const drop = (): void => {
    if (body.complete || body.destroyed) return
    body.off('close', onClose).unpipe(way)
    body.resume()
    const timer = setTimeout(() => body.destroy(), DRAIN_TIMEOUT_MS)
    body.once('close', () => clearTimeout(timer))
  }
  call.once('response', drop)
  call.once('error', drop)
  if (body.destroyed) onClose()
}

/** What leads to a request and lets bytes through when they are admitted. */
function admitting(call: ClientRequest, admit: (bytes: number) => Promise<void>): Transform {
  const pass = async (chunk: Buffer, done: TransformCallback): Promise<void> => {
    try {
      await admit(chunk.length)
    } catch (err) {
      return done(err as Error)
    }
    done(null, chunk)
  }
  const way = new Transform({ transform: (chunk: Buffer, _encoding, done) => void pass(chunk, done) })
  way.once('error', (err) => call.destroy(err))
  call.once('close', () => way.destroy())
  way.pipe(call)
  return way
}

function toCallError(err: unknown): AppError {
  if (isAppError(err)) return err
  return new AppError('unavailable', 'The connection to the files of the volume broke: try again', {
    cause: err,
    headers: { 'should-retry': 'false' },
  })
}
