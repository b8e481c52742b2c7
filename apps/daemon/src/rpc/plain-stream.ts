import type { ServerResponse } from 'node:http'
import type { DescMessage, MessageShape } from '@bufbuild/protobuf'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { END_OF_STREAM, envelope } from './envelope.ts'
import { toJsonError } from './json-error.ts'
import type { PlainDeps, RpcHandler } from './plain-deps.ts'
import { readPlainMessage } from './plain-request.ts'
import { DEADLINE_EXCEEDED, readTimes, SHUTTING_DOWN, type StreamCall } from './stream-call.ts'

export interface PlainStreamMethod<I extends DescMessage, E> {
  readonly input: I
  readonly run: (request: MessageShape<I>, call: StreamCall) => AsyncIterable<E> | Promise<AsyncIterable<E>>
  readonly toJson: (event: E) => string
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/**
 * Serves a server stream in the form that SDKs use without the layers of the library: a command's time and the rate of its output are
 * mostly theirs. Everything else, refusals included, is the library's.
 */
export function plainStream<I extends DescMessage, E>(method: PlainStreamMethod<I, E>, deps: PlainDeps, library: RpcHandler): RpcHandler {
  return async (request, reply) => {
    const message = await readPlainMessage(request, 'stream', method.input)
    if (message === undefined) return library(request, reply)
    const times = readTimes((name) => request.headers[name] as string | undefined)
    const { signal, cleanUp } = stopSignal(reply.raw, times.timeoutMs, deps.shutdown)
    try {
      await pump(method, { request, reply }, () => method.run(message, { ...times, signal, basicUser: request.basicUser }))
    } catch (error) {
      reply.raw.end(envelope(END_OF_STREAM, JSON.stringify({ error: toJsonError(error, deps.log) })))
    } finally {
      cleanUp()
    }
    return undefined
  }
}

/** Aborts with the reason that the client is to be told, or when there is nobody to be told. */
function stopSignal(response: ServerResponse, timeoutMs: number | undefined, shutdown: AbortSignal) {
  const stop = new AbortController()
  const onDeadline = (): void => stop.abort(new AppError(...DEADLINE_EXCEEDED))
  const onShutdown = (): void => stop.abort(new AppError(...SHUTTING_DOWN))
  const deadline = timeoutMs === undefined ? undefined : setTimeout(onDeadline, timeoutMs)
  if (timeoutMs === 0) onDeadline()
  if (shutdown.aborted) onShutdown()
  shutdown.addEventListener('abort', onShutdown)
  response.once('close', () => stop.abort('the client is gone'))
  // Writes to a client that has gone fail; `close` says so.
  response.on('error', () => undefined)
  return {
    signal: stop.signal,
    cleanUp: (): void => {
      clearTimeout(deadline)
      shutdown.removeEventListener('abort', onShutdown)
    },
  }
}

async function pump<I extends DescMessage, E>(
  { toJson }: PlainStreamMethod<I, E>,
  { reply }: Exchange,
  run: () => AsyncIterable<E> | Promise<AsyncIterable<E>>,
): Promise<void> {
  reply.hijack()
  const response = reply.raw
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) response.setHeader(name, value)
  response.writeHead(200, { 'content-type': 'application/connect+json' })
  for await (const event of await run()) {
    if (!response.destroyed && !response.write(envelope(0, toJson(event)))) await drained(response)
  }
  response.end(envelope(END_OF_STREAM, '{}'))
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
