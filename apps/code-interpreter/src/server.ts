import { isAppError } from '@sandyard/kit/errors/app-error'
import { httpStatus } from '@sandyard/kit/errors/http-status'
import { fastify, type FastifyError, type FastifyInstance } from 'fastify'
import type { ServerContext } from './context.ts'
import { registerCreateContext } from './routes/create-context.ts'
import { registerExecute } from './routes/execute.ts'
import { registerHealth } from './routes/health.ts'
import { registerListContexts } from './routes/list-contexts.ts'
import { registerRemoveContext } from './routes/remove-context.ts'
import { registerRestartContext } from './routes/restart-context.ts'

/** Longer than the proxy in front keeps idle connections, so that it is never this server that closes one just as it is used again. */
const KEEP_ALIVE_MS = 640_000
const MAX_CODE_BYTES = 64 * 1024 * 1024

/**
 * The server that clients of the code interpreter speak to. Answers of errors are plain text, because clients put the whole body into the
 * message that people read (clients.md 1.10).
 */
export function createServer(context: ServerContext): FastifyInstance {
  const app = fastify({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, bodyLimit: MAX_CODE_BYTES, exposeHeadRoutes: false })
  // Clients name the type of JSON also where they send no body.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    if (body === '') return done(null, {})
    try {
      done(null, JSON.parse(body as string))
    } catch {
      done(Object.assign(new Error('the body is not JSON'), { statusCode: 400 }))
    }
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain; charset=utf-8').send('Not found'))
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = isAppError(error) ? httpStatus(error.kind) : (error.statusCode ?? 500)
    // The status that the proxy and clients take for a sandbox that has ended.
    const sent = status === 502 ? 500 : status
    if (sent >= 500) context.log.error({ err: error, method: request.method, path: request.routeOptions.url }, 'request failed')
    const text = isAppError(error) || sent < 500 ? error.message : 'internal error'
    return reply.code(sent).type('text/plain; charset=utf-8').send(text)
  })
  registerHealth(app)
  registerExecute(app, context)
  registerCreateContext(app, context)
  registerListContexts(app, context)
  registerRemoveContext(app, context)
  registerRestartContext(app, context)
  return app
}
