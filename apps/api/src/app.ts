import Fastify, { LogController, type FastifyBaseLogger } from 'fastify'
import { administrationRoutes } from './administration/administration-routes.ts'
import { buildRoutes } from './builds/build-routes.ts'
import type { AppContext } from './context.ts'
import { credentialRoutes } from './credentials/credential-routes.ts'
import { dashboardBackendRoutes } from './dashboard-backend/dashboard-backend-routes.ts'
import { dashboardPlugin } from './dashboard/dashboard-plugin.ts'
import { isLiveUpgrade } from './dashboard/live/live-routes.ts'
import { wirePlugin, wirePrincipal } from './dashboard/wire/wire-plugin.ts'
import { isDashboardUrl, rewriteWireUrl } from './dashboard/wire/wire-requests.ts'
import { allowedHostsPlugin } from './http/allowed-hosts-plugin.ts'
import type { ApiInstance, ApiRoute } from './http/api-instance.ts'
import { auditPlugin } from './http/audit-plugin.ts'
import { authPlugin } from './http/auth-plugin.ts'
import { answersPlugin } from './http/caps/answers-plugin.ts'
import { bodiesPlugin } from './http/bodies-plugin.ts'
import { bodyMemoryPlugin } from './http/caps/body-memory-plugin.ts'
import { limitBodies } from './http/body-deadline.ts'
import { requestCapsPlugin } from './http/caps/request-caps-plugin.ts'
import type { RequestCap } from './http/caps/request-cap.ts'
import { requestWorkPlugin } from './http/caps/request-work.ts'
import { answerBrokenRequest, answerExpectation, answerUnroutable } from './http/broken-requests.ts'
import { corsPlugin } from './http/cors-plugin.ts'
import { drainPlugin } from './http/drain-plugin.ts'
import { errorsPlugin } from './http/errors-plugin.ts'
import { registerHealthRoutes } from './http/health-routes.ts'
import { openapiPlugin } from './http/openapi/openapi-plugin.ts'
import { pressurePlugin } from './http/pressure-plugin.ts'
import { RequestLimits } from './http/rate-limit.ts'
import { requestLogPlugin } from './http/request-log-plugin.ts'
import { requestScopePlugin } from './http/request-scope-plugin.ts'
import { secretsCachePlugin } from './http/secrets-cache-plugin.ts'
import { compileSerializer } from './http/serializers.ts'
import { serveInTurn } from './http/serve-in-turn.ts'
import type { BucketLimit } from './http/token-bucket.ts'
import { compileValidator } from './http/validators.ts'
import { registerAskCertificate } from './sandboxes/routes/ask-certificate.ts'
import { sandboxRoutes } from './sandboxes/sandbox-routes.ts'
import { secretRoutes } from './secrets/secret-routes.ts'
import { snapshotRoutes } from './snapshots/snapshot-routes.ts'
import { tagRoutes } from './tags/tag-routes.ts'
import { teamRoutes } from './teams/team-routes.ts'
import { templateRoutes } from './templates/template-routes.ts'
import { volumeRoutes } from './volumes/volume-routes.ts'
import { webhookRoutes } from './webhooks/webhook-routes.ts'

const MIB = 1024 ** 2

/** control-plane.md 1.2. */
const LIMITS = {
  bodyLimit: 16 * MIB,
  // Bodies have their own deadline; uploads can be exempt.
  requestTimeout: 0,
  handlerTimeout: 70_000,
  keepAliveTimeout: 620_000,
  http: { headersTimeout: 5000, connectionsCheckingInterval: 1000, requireHostHeader: false },
}

const BODY_TIMEOUT_MS = 10_000

/** As long as a request line can be, so the operation itself refuses a segment that is too long. */
const MAX_SEGMENT_LENGTH = 16 * 1024

/** Every operation that is served. */
export const ROUTES: readonly ApiRoute[] = [
  ...sandboxRoutes,
  ...snapshotRoutes,
  ...teamRoutes,
  ...templateRoutes,
  ...tagRoutes,
  ...buildRoutes,
  ...credentialRoutes,
  ...administrationRoutes,
  ...volumeRoutes,
  ...secretRoutes,
  ...webhookRoutes,
  ...dashboardBackendRoutes,
]

export interface AppOptions {
  /** Deadline of a whole body. Default: that of control-plane.md 1.2. */
  readonly bodyTimeoutMs?: number
  /** Refused calls of one team that are stored in the audit. Default: that of the plugin. */
  readonly auditRefusedLimit?: BucketLimit
  /** A request whose body is complete so long after its head is authenticated again. Default: that of the plugin. */
  readonly authenticatesAgainAfterMs?: number
  /** A client that reads nothing of its answer for so long is cut off. Default: that of the plugin. */
  readonly stalledAnswerMs?: number
}

/** The control plane's HTTP server. The caller listens, and closes it before the context. */
export async function createApp(
  ctx: AppContext,
  { bodyTimeoutMs = BODY_TIMEOUT_MS, auditRefusedLimit, authenticatesAgainAfterMs, stalledAnswerMs }: AppOptions = {},
): Promise<ApiInstance> {
  const loggerInstance: FastifyBaseLogger = ctx.log.http
  const { http, dashboard } = ctx.config
  const limits = new RequestLimits({ operations: http.rateLimits, failures: http.failedAuthLimit })
  const app: ApiInstance = Fastify({
    ...LIMITS,
    http: { ...LIMITS.http, shouldUpgradeCallback: (request) => dashboard.isOn && isLiveUpgrade(request) },
    loggerInstance,
    ...(http.trustedProxies.length > 0 && { trustProxy: [...http.trustedProxies] }),
    logController: new LogController({ disableRequestLogging: true }),
    // The lines of a request have its id from its scope.
    childLoggerFactory: (logger) => logger,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MAX_SEGMENT_LENGTH },
    frameworkErrors: answerUnroutable,
    ...(dashboard.isOn && { rewriteUrl: rewriteWireUrl }),
  })
  app.server.on('checkExpectation', answerExpectation)
  serveInTurn(app.server, { headersTimeoutMs: LIMITS.http.headersTimeout, answerMalformed: answerBrokenRequest })
  limitBodies(app.server, bodyTimeoutMs)
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(compileSerializer)

  const countRefused = (cap: RequestCap): void => ctx.metrics.refusedRequests.inc({ cap })
  // The order of control-plane.md 1.3: every hook runs in the order of its registration.
  await app.register(requestScopePlugin)
  await app.register(requestLogPlugin, { metrics: ctx.metrics })
  await app.register(secretsCachePlugin)
  await app.register(corsPlugin, { isSameOriginOnly: ({ originalUrl }) => dashboard.isOn && isDashboardUrl(originalUrl) })
  await app.register(errorsPlugin, { metrics: ctx.metrics })
  await app.register(drainPlugin, { drain: ctx.drain })
  await app.register(pressurePlugin, { maxEventLoopDelayMs: http.maxEventLoopDelayMs })
  await app.register(requestWorkPlugin)
  await app.register(requestCapsPlugin, { limits: http.caps, fronts: http.trustedProxies, countRefused })
  await app.register(allowedHostsPlugin, { domain: ctx.config.domain, apiUrl: ctx.config.builds.apiUrl, names: http.allowedHosts })
  await app.register(bodiesPlugin)
  if (dashboard.isOn) await app.register(wirePlugin, { ctx })
  await app.register(authPlugin, {
    parts: ctx.auth,
    limits,
    authenticatesAgainAfterMs,
    principalOf: dashboard.isOn ? wirePrincipal(ctx) : undefined,
  })
  await app.register(bodyMemoryPlugin, { countRefused })
  await app.register(answersPlugin, { countRefused, stalledMs: stalledAnswerMs })
  await app.register(auditPlugin, { audit: ctx.audit, refusedLimit: auditRefusedLimit })
  await app.register(openapiPlugin)

  registerHealthRoutes(app, ctx)
  registerAskCertificate(app, ctx)
  for (const register of ROUTES) register(app, ctx)
  if (dashboard.isOn) await app.register(dashboardPlugin, { prefix: '/dashboard', ctx })
  await app.ready()
  return app
}
