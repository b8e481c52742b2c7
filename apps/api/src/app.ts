import Fastify, { LogController, type FastifyBaseLogger } from 'fastify'
import { randomId } from '@sandyard/kit/ids/ids'
import type { AppContext } from './context.ts'
import type { ApiInstance } from './http/api-instance.ts'
import { authPlugin } from './http/auth-plugin.ts'
import { blockedTeamPlugin } from './http/blocked-team-plugin.ts'
import { bodiesPlugin } from './http/bodies-plugin.ts'
import { answerBrokenRequest, answerExpectation, answerUnroutable } from './http/broken-requests.ts'
import { corsPlugin } from './http/cors-plugin.ts'
import { errorsPlugin } from './http/errors-plugin.ts'
import { registerHealthRoutes } from './http/health-routes.ts'
import { registerNotImplemented } from './http/not-implemented.ts'
import { openapiPlugin } from './http/openapi-plugin.ts'
import { rateLimitPlugin } from './http/rate-limit-plugin.ts'
import { requestLogPlugin } from './http/request-log-plugin.ts'
import { secretsCachePlugin } from './http/secrets-cache-plugin.ts'
import { createValidatorCompiler } from './http/validators.ts'
import { connectSandboxRoute } from './sandboxes/routes/connect-sandbox.ts'
import { connectSandboxV2Route } from './sandboxes/routes/connect-sandbox-v2.ts'
import { createSandboxRoute } from './sandboxes/routes/create-sandbox.ts'
import { createSandboxV2Route } from './sandboxes/routes/create-sandbox-v2.ts'
import { getSandboxRoute } from './sandboxes/routes/get-sandbox.ts'
import { killSandboxRoute } from './sandboxes/routes/kill-sandbox.ts'
import { listSandboxesRoute } from './sandboxes/routes/list-sandboxes.ts'
import { listSandboxesV2Route } from './sandboxes/routes/list-sandboxes-v2.ts'
import { refreshSandboxRoute } from './sandboxes/routes/refresh-sandbox.ts'
import { setSandboxTimeoutRoute } from './sandboxes/routes/set-sandbox-timeout.ts'

const MIB = 1024 ** 2

/** control-plane.md 1.2. */
const LIMITS = {
  bodyLimit: 16 * MIB,
  requestTimeout: 10_000,
  handlerTimeout: 70_000,
  keepAliveTimeout: 620_000,
  http: { headersTimeout: 5000, connectionsCheckingInterval: 1000, requireHostHeader: false },
}

/** As long as a request line can be: a segment that is too long for what it names is told so by its operation. */
const MAX_SEGMENT_LENGTH = 16 * 1024

const ROUTES = [
  createSandboxRoute,
  createSandboxV2Route,
  listSandboxesRoute,
  listSandboxesV2Route,
  getSandboxRoute,
  killSandboxRoute,
  connectSandboxRoute,
  connectSandboxV2Route,
  setSandboxTimeoutRoute,
  refreshSandboxRoute,
]

/** The control plane's HTTP server. The caller listens, and closes it before the context. */
export async function createApp(ctx: AppContext): Promise<ApiInstance> {
  const loggerInstance: FastifyBaseLogger = ctx.log.http
  const app: ApiInstance = Fastify({
    ...LIMITS,
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomId(12),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MAX_SEGMENT_LENGTH },
    frameworkErrors: answerUnroutable,
    clientErrorHandler: answerBrokenRequest,
  })
  app.server.on('checkExpectation', answerExpectation)
  app.setValidatorCompiler(createValidatorCompiler())

  // The order of control-plane.md 1.3: every hook runs in the order of its registration.
  await app.register(requestLogPlugin, { metrics: ctx.metrics })
  await app.register(secretsCachePlugin)
  await app.register(corsPlugin)
  await app.register(errorsPlugin, { metrics: ctx.metrics })
  await app.register(bodiesPlugin)
  await app.register(authPlugin, { parts: ctx.auth })
  await app.register(rateLimitPlugin, { limits: ctx.config.rateLimits })
  await app.register(blockedTeamPlugin)
  await app.register(openapiPlugin)

  registerHealthRoutes(app, ctx)
  for (const register of ROUTES) register(app, ctx)
  registerNotImplemented(app)
  await app.ready()
  return app
}
