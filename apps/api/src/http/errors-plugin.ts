import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toErrorReply, toNoRouteReply, type ErrorReply } from './error-reply.ts'

/** Every error of the server leaves through here: one shape, one content type (control-plane.md 1.4). */
export const errorsPlugin = fp(
  async (app) => {
    app.setErrorHandler((error, request, reply) => send(request, reply, toErrorReply(error, request), error))
    app.setNotFoundHandler((request, reply) => send(request, reply, toNoRouteReply(request)))
    // Before a body is read: what has no route has no body either.
    app.addHook('onRequest', async (request, reply) => {
      if (request.is404) return send(request, reply, toNoRouteReply(request))
      return undefined
    })
  },
  { name: 'errors' },
)

function send(request: FastifyRequest, reply: FastifyReply, answer: ErrorReply, error?: unknown): FastifyReply {
  if (answer.isUnexpected) request.log.error({ err: error }, 'request failed unexpectedly')
  else if (answer.body.code >= 500) request.log.warn({ err: error }, 'request failed')
  return reply.code(answer.body.code).headers(answer.headers).type('application/json; charset=utf-8').send(answer.body)
}
