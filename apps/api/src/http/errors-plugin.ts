import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { ApiMetrics } from '../metrics/api-metrics.ts'
import { UnservedFieldError } from '../metrics/unserved-field.ts'
import { JSON_TYPE, missingHostReply, sendErrorReply, toErrorReply, toNoRouteReply, type ErrorReply } from './error-reply.ts'

/** Sends all errors of the server, in one shape and with one content type (control-plane.md 1.4). */
export const errorsPlugin = fp<{ metrics: ApiMetrics }>(
  async (app, { metrics }) => {
    app.setErrorHandler(async (error, request, reply) => {
      const answer = toErrorReply(error, request)
      if (isAppError(error, 'unimplemented')) metrics.unimplemented.inc(labelsOf(error, request))
      if (answer.isUnexpected) request.log.error({ err: error }, 'request failed unexpectedly')
      else if (answer.body.code >= 500) request.log.warn({ err: error }, 'request failed')
      return answer.body.code === 413 ? sendBeforeBody(reply, answer) : sendErrorReply(reply, answer)
    })
    app.setNotFoundHandler((request, reply) => sendErrorReply(reply, toNoRouteReply(request)))
    // Before the body is read, because without a route nothing reads it.
    app.addHook('onRequest', async (request, reply) => {
      if (!namesHost(request.raw)) return sendErrorReply(reply, missingHostReply)
      if (request.is404 || hasEmptySegment(request.params)) return sendErrorReply(reply, toNoRouteReply(request))
      return undefined
    })
  },
  { name: 'errors' },
)

/**
 * Answers at once and reads the rest of the body before the connection closes. If the connection closed while the client still sends, the
 * client would not receive the answer. The deadline of the body applies.
 */
function sendBeforeBody(reply: FastifyReply, { body, headers }: ErrorReply): FastifyReply {
  const bytes = Buffer.from(JSON.stringify(body))
  void reply.code(body.code).headers({ ...headers, 'content-length': bytes.length, connection: 'close' })
  return reply.type(JSON_TYPE).send(Readable.from(thenDiscard(bytes, reply.request.raw)))
}

async function* thenDiscard(answer: Buffer, request: IncomingMessage): AsyncGenerator<Buffer> {
  yield answer
  request.resume()
  await finished(request).catch(() => undefined)
}

/** HTTP/1.1 requires the header. Node checks it as well, but answers without a body. */
function namesHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host !== undefined || httpVersion !== '1.1'
}

/** The router matches `/sandboxes/` with `/sandboxes/{sandboxID}`, but no operation has an empty segment. */
function hasEmptySegment(params: unknown): boolean {
  return Object.values(params ?? {}).includes('')
}

function labelsOf(error: Error, request: FastifyRequest): { operation: string; field: string } {
  const field = error instanceof UnservedFieldError ? error.field : ''
  return { operation: request.routeOptions.config.operation?.id ?? '', field }
}
