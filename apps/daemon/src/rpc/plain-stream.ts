import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type DescMessage, fromJsonString, type MessageShape } from '@bufbuild/protobuf'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { connectCode } from '@sandyard/kit/errors/connect-code'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DaemonLog } from '../loggers.ts'
import { END_OF_STREAM, envelope, openEnvelope } from './envelope.ts'
import { DEADLINE_EXCEEDED, readTimes, SHUTTING_DOWN, type StreamCall } from './stream-call.ts'

export interface PlainStreamMethod<I extends DescMessage, E> {
  readonly input: I
  readonly run: (request: MessageShape<I>, call: StreamCall) => AsyncIterable<E> | Promise<AsyncIterable<E>>
  readonly toJson: (event: E) => string
}

export interface PlainStreamDeps {
  readonly log: DaemonLog
  readonly shutdown: AbortSignal
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** Requests of streams are small; whatever is larger goes the long way. */
const MAX_REQUEST_BYTES = 1024 * 1024

/**
 * Serves a server stream in the one form that SDKs use, uncompressed JSON with the version header, without the layers of the library: a
 * command's time and the rate of its output are mostly theirs. Every other request, and every one that is not well-formed, goes to the
 * library's handler as it came, so that all refusals have one source.
 */
export function plainStream<I extends DescMessage, E>(method: PlainStreamMethod<I, E>, deps: PlainStreamDeps, otherwise: Handler): Handler {
  return async (request, reply) => {
    if (!isPlain(request.headers)) return otherwise(request, reply)
    const { bytes, isWhole } = await readStart(request.raw)
    const message = isWhole ? parse(method.input, bytes) : undefined
    if (message !== undefined) return serve(method, message, { request, reply, ...deps })
    request.body = replay(bytes, isWhole ? undefined : request.raw)
    return otherwise(request, reply)
  }
}

function isPlain(headers: IncomingHttpHeaders): boolean {
  const { 'content-type': type = '', 'connect-protocol-version': version, 'connect-timeout-ms': timeout = '0' } = headers
  const encoding = headers['connect-content-encoding'] ?? 'identity'
  const accepted = headers['connect-accept-encoding'] ?? 'identity'
  return (
    /^application\/connect\+json\s*(?:;|$)/i.test(type) &&
    version === '1' &&
    encoding === 'identity' &&
    accepted === 'identity' &&
    /^\d{1,10}$/.test(String(timeout))
  )
}

function parse<I extends DescMessage>(input: I, bytes: Buffer): MessageShape<I> | undefined {
  const json = openEnvelope(bytes)
  if (json === undefined) return undefined
  try {
    return fromJsonString(input, json === '' ? '{}' : json, { ignoreUnknownFields: true })
  } catch {
    return undefined
  }
}

interface Exchange extends PlainStreamDeps {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

async function serve<I extends DescMessage, E>(
  method: PlainStreamMethod<I, E>,
  message: MessageShape<I>,
  exchange: Exchange,
): Promise<void> {
  const { request, reply, shutdown, log } = exchange
  const stop = new AbortController()
  const times = readTimes((name) => request.headers[name] as string | undefined)
  const deadline =
    times.timeoutMs === undefined ? undefined : setTimeout(() => stop.abort(new AppError(...DEADLINE_EXCEEDED)), times.timeoutMs)
  if (times.timeoutMs === 0) stop.abort(new AppError(...DEADLINE_EXCEEDED))
  const onShutdown = (): void => stop.abort(new AppError(...SHUTTING_DOWN))
  if (shutdown.aborted) onShutdown()
  shutdown.addEventListener('abort', onShutdown)

  reply.hijack()
  const response = reply.raw
  response.once('close', () => stop.abort('the client is gone'))
  // Writes to a client that has gone fail; `close` has said so.
  response.on('error', () => undefined)
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) response.setHeader(name, value)
  response.writeHead(200, { 'content-type': 'application/connect+json' })
  try {
    for await (const event of await method.run(message, { ...times, signal: stop.signal, basicUser: request.basicUser })) {
      if (!response.destroyed && !response.write(envelope(0, method.toJson(event)))) await drained(response)
    }
    response.end(envelope(END_OF_STREAM, '{}'))
  } catch (error) {
    response.end(envelope(END_OF_STREAM, JSON.stringify({ error: toJsonError(error, log) })))
  } finally {
    clearTimeout(deadline)
    shutdown.removeEventListener('abort', onShutdown)
  }
}

function toJsonError(error: unknown, log: DaemonLog): { code: string; message: string } {
  if (isAppError(error)) return { code: connectCode(error.kind), message: error.message }
  log.error({ err: error }, 'rpc failed')
  return { code: 'internal', message: 'internal error' }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.once('drain', done).once('close', done)
  })
}

/** The body, or as much of one that is too long as has come when that shows. Rejects when the client goes before its end. */
function readStart(request: IncomingMessage): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    const settle = (isWhole: boolean): void => {
      request.off('data', onData).off('end', onEnd).off('error', reject)
      resolve({ bytes: Buffer.concat(chunks), isWhole })
    }
    const onEnd = (): void => settle(true)
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      length += chunk.length
      if (length <= MAX_REQUEST_BYTES) return
      request.pause()
      settle(false)
    }
    request.on('data', onData).on('end', onEnd).on('error', reject)
  })
}

async function* replay(bytes: Buffer, rest: AsyncIterable<Buffer> | undefined): AsyncGenerator<Buffer> {
  yield bytes
  if (rest !== undefined) yield* rest
}
