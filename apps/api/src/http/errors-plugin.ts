import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { ApiMetrics } from '../metrics/api-metrics.ts'
import { UnservedFieldError } from '../sandboxes/unserved-field.ts'
import { toErrorReply, toNoRouteReply, type ErrorReply } from './error-reply.ts'

/** Every error of the server leaves through here: one shape, one content type (control-plane.md 1.4). */
export const errorsPlugin = fp<{ metrics: ApiMetrics }>(
  async (app, { metrics }) => {
    app.setErrorHandler(async (error, request, reply) => {
      const answer = toErrorReply(error, request)
      if (answer.body.code === 413) await discardBody(request.raw)
      if (isAppError(error, 'unimplemented')) metrics.unimplemented.inc(labelsOf(error, request))
      if (answer.isUnexpected) request.log.error({ err: error }, 'request failed unexpectedly')
      else if (answer.body.code >= 500) request.log.warn({ err: error }, 'request failed')
      return send(reply, answer)
    })
    app.setNotFoundHandler((request, reply) => send(reply, toNoRouteReply(request)))
    // Before a body is read: what has no route has no body either.
    app.addHook('onRequest', async (request, reply) => {
      if (request.is404) return send(reply, toNoRouteReply(request))
      return undefined
    })
  },
  { name: 'errors' },
)

function send(reply: FastifyReply, { body, headers }: ErrorReply): FastifyReply {
  return reply.code(body.code).headers(headers).type('application/json; charset=utf-8').send(body)
}

/**
 * Reads and drops the rest of a body that is too large: to close the connection while the client still sends would lose it the
 * answer. The server's time limit for a whole request ends this, too.
 */
async function discardBody(request: IncomingMessage): Promise<void> {
  request.resume()
  await finished(request).catch(() => undefined)
}

function labelsOf(error: Error, request: FastifyRequest): { operation: string; field: string } {
  const field = error instanceof UnservedFieldError ? error.field : ''
  return { operation: request.routeOptions.config.operation?.id ?? '', field }
}
