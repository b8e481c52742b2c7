import { createServer as createHttpServer } from 'node:http'
import { httpStatus } from '@sandyard/kit/errors/http-status'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { fastify, type FastifyError, type FastifyInstance } from 'fastify'
import { basicUserHook } from './access/basic-user.ts'
import { tokenGate } from './access/token-gate.ts'
import type { DaemonContext } from './context.ts'
import { keepCutUploads, registerFileRoutes } from './files/routes.ts'
import { registerControlRoutes, registerHealthRoutes } from './health/health-routes.ts'
import { answerClientError, trackExchanges } from './http/client-error.ts'
import { applyCors } from './http/cors.ts'
import { sendError } from './http/json-reply.ts'
import { answerUnknownRoutes } from './http/unknown-route.ts'
import { releaseMemoryAtRest } from './http/memory-at-rest.ts'
import { registerInitRoute } from './init/init-route.ts'
import { registerLogsRoute } from './logs/logs-route.ts'
import { registerMetricsRoute } from './metrics/metrics-route.ts'
import { serveTunnels } from './ports/serve-tunnels.ts'
import { registerServices } from './rpc/register-services.ts'

/** Longer than the proxy in front keeps idle connections, so that it is never the daemon that closes one just as it is used again. */
const KEEP_ALIVE_MS = 640_000
const MAX_HEADER_BYTES = 1024 * 1024

/** The daemon's HTTP server (envd.md 2). Uploads and streams take as long as they take, so requests have no time limit. */
export function createServer(context: DaemonContext): FastifyInstance {
  const app = fastify({
    serverFactory: (handler) => {
      const server = createHttpServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES }, handler)
      trackExchanges(server)
      // A client that has said everything still waits for its answer.
      Object.assign(server, { httpAllowHalfOpen: true })
      return server
    },
    clientErrorHandler: answerClientError,
    bodyLimit: Number.MAX_SAFE_INTEGER,
    exposeHeadRoutes: false,
    // No route has a schema, so the libraries that compile them need not be loaded.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    frameworkErrors: (error, _request, reply) => void sendError(reply, error.statusCode ?? 400, error.message),
  })
  // Routes read their bodies themselves: most bodies are streams.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  app.decorateRequest('basicUser', undefined)
  app.addHook('onRequest', keepCutUploads)
  app.addHook('onRequest', applyCors)
  app.addHook('onRequest', tokenGate({ state: context.state, awaitInit: context.config.instanceFile !== undefined }))
  app.addHook('onRequest', basicUserHook(context.accounts))
  answerUnknownRoutes(app)
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (isAppError(error)) return sendError(reply, httpStatus(error.kind), error.message)
    if (error.statusCode !== undefined && error.statusCode < 500) return sendError(reply, error.statusCode, error.message)
    // A request that the client has aborted is no failure of the daemon.
    if (!request.raw.destroyed) {
      context.log.error({ err: error, method: request.method, path: request.routeOptions.url }, 'request failed')
    }
    return sendError(reply, 500, 'internal error')
  })

  registerHealthRoutes(app, context)
  registerMetricsRoute(app, context)
  registerLogsRoute(app, context)
  registerControlRoutes(app)
  registerFileRoutes(app, { accounts: context.accounts, settings: context.state, log: context.log, shutdown: context.shutdown })
  const loadServices = registerServices(app, context)
  serveTunnels(app.server, context, releaseMemoryAtRest(app))
  // After the first `/init` the first command follows soon: load what it needs.
  registerInitRoute(app, context, () => {
    const spawner = import('./process/spawn.ts').then(({ loadSpawner }) => loadSpawner())
    // The accounts are read as well: it is their reader that makes Node compile `fs/promises`, a quarter of the first command's time.
    Promise.all([loadServices(), spawner, context.accounts.read()]).catch((err: unknown) =>
      context.log.error({ err }, 'what the first command needs failed to load'),
    )
  })
  return app
}

function noSchemas(): never {
  throw new Error('the daemon has no schemas')
}
