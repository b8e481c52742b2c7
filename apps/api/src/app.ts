import Fastify, { LogController, type FastifyBaseLogger } from 'fastify'
import { createTemplateRoute } from './builds/routes/create-template.ts'
import { createTemplateV2Route } from './builds/routes/create-template-v2.ts'
import { createTemplateV3Route } from './builds/routes/create-template-v3.ts'
import { getBuildLogsRoute } from './builds/routes/get-build-logs.ts'
import { getBuildStatusRoute } from './builds/routes/get-build-status.ts'
import { rebuildTemplateRoute } from './builds/routes/rebuild-template.ts'
import { startBuildRoute } from './builds/routes/start-build.ts'
import { startBuildV2Route } from './builds/routes/start-build-v2.ts'
import { credentialRoutes } from './credentials/credential-routes.ts'
import { administrationRoutes } from './administration/administration-routes.ts'
import { volumeRoutes } from './volumes/volume-routes.ts'
import { secretRoutes } from './secrets/secret-routes.ts'
import { webhookRoutes } from './webhooks/webhook-routes.ts'
import type { AppContext } from './context.ts'
import { dashboardBackendRoutes } from './dashboard-backend/dashboard-backend-routes.ts'
import { dashboardPlugin } from './dashboard/dashboard-plugin.ts'
import { isLiveUpgrade } from './dashboard/live/live-routes.ts'
import { wirePlugin, wirePrincipal } from './dashboard/wire/wire-plugin.ts'
import { isDashboardUrl, rewriteWireUrl } from './dashboard/wire/wire-requests.ts'
import { allowedHostsPlugin } from './http/allowed-hosts-plugin.ts'
import type { ApiInstance, ApiRoute } from './http/api-instance.ts'
import { authPlugin } from './http/auth-plugin.ts'
import { auditPlugin } from './http/audit-plugin.ts'
import { bodiesPlugin } from './http/bodies-plugin.ts'
import { limitBodies } from './http/body-deadline.ts'
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
import { serveInTurn } from './http/serve-in-turn.ts'
import type { BucketLimit } from './http/token-bucket.ts'
import { compileSerializer } from './http/serializers.ts'
import { compileValidator } from './http/validators.ts'
import { getSandboxMetricsRoute } from './sandbox-metrics/routes/get-sandbox-metrics.ts'
import { listSandboxMetricsRoute } from './sandbox-metrics/routes/list-sandbox-metrics.ts'
import { registerAskCertificate } from './sandboxes/routes/ask-certificate.ts'
import { connectSandboxRoute } from './sandboxes/routes/connect-sandbox.ts'
import { connectSandboxV2Route } from './sandboxes/routes/connect-sandbox-v2.ts'
import { createSandboxRoute } from './sandboxes/routes/create-sandbox.ts'
import { createSandboxV2Route } from './sandboxes/routes/create-sandbox-v2.ts'
import { getSandboxLogsRoute } from './sandboxes/routes/get-sandbox-logs.ts'
import { getSandboxLogsV2Route } from './sandboxes/routes/get-sandbox-logs-v2.ts'
import { getSandboxRoute } from './sandboxes/routes/get-sandbox.ts'
import { killSandboxRoute } from './sandboxes/routes/kill-sandbox.ts'
import { listLifecycleEventsRoute } from './sandboxes/routes/list-lifecycle-events.ts'
import { listSandboxEventsRoute } from './sandboxes/routes/list-sandbox-events.ts'
import { listSandboxesRoute } from './sandboxes/routes/list-sandboxes.ts'
import { listSandboxesV2Route } from './sandboxes/routes/list-sandboxes-v2.ts'
import { listTeamLifecycleEventsRoute } from './sandboxes/routes/list-team-lifecycle-events.ts'
import { pauseSandboxRoute } from './sandboxes/routes/pause-sandbox.ts'
import { refreshSandboxRoute } from './sandboxes/routes/refresh-sandbox.ts'
import { resumeSandboxRoute } from './sandboxes/routes/resume-sandbox.ts'
import { installReadyMadeTemplateRoute } from './ready-made/routes/install-ready-made-template.ts'
import { listReadyMadeTemplatesRoute } from './ready-made/routes/list-ready-made-templates.ts'
import { setSandboxTimeoutRoute } from './sandboxes/routes/set-sandbox-timeout.ts'
import { updateSandboxNetworkRoute } from './sandboxes/routes/update-sandbox-network.ts'
import { wakeSandboxRoute } from './sandboxes/routes/wake-sandbox.ts'
import { createSnapshotRoute } from './snapshots/routes/create-snapshot.ts'
import { forkSandboxRoute } from './snapshots/routes/fork-sandbox.ts'
import { listSnapshotsRoute } from './snapshots/routes/list-snapshots.ts'
import { assignTagsRoute } from './tags/routes/assign-tags.ts'
import { checkTagRoute } from './tags/routes/check-tag.ts'
import { countTagsRoute } from './tags/routes/count-tags.ts'
import { deleteTagsRoute } from './tags/routes/delete-tags.ts'
import { listTagAssignmentsRoute } from './tags/routes/list-tag-assignments.ts'
import { listTagGroupsRoute } from './tags/routes/list-tag-groups.ts'
import { listTagsRoute } from './tags/routes/list-tags.ts'
import { getTeamMetricsMaxRoute } from './team-metrics/routes/get-team-metrics-max.ts'
import { getTeamMetricsRoute } from './team-metrics/routes/get-team-metrics.ts'
import { listTeamsRoute } from './teams/routes/list-teams.ts'
import { deleteTemplateRoute } from './templates/routes/delete-template.ts'
import { getTemplateAliasRoute } from './templates/routes/get-template-alias.ts'
import { getTemplateRoute } from './templates/routes/get-template.ts'
import { listDefaultTemplatesRoute } from './templates/routes/list-default-templates.ts'
import { listTemplatesRoute } from './templates/routes/list-templates.ts'
import { listTemplatesV2Route } from './templates/routes/list-templates-v2.ts'
import { updateTemplateRoute } from './templates/routes/update-template.ts'
import { updateTemplateV2Route } from './templates/routes/update-template-v2.ts'
import { getTemplateFilesRoute } from './uploads/routes/get-template-files.ts'
import { uploadFilesRoute } from './uploads/routes/upload-files.ts'

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
  createSandboxRoute,
  createSandboxV2Route,
  listSandboxesRoute,
  listSandboxesV2Route,
  getSandboxRoute,
  killSandboxRoute,
  pauseSandboxRoute,
  createSnapshotRoute,
  listSnapshotsRoute,
  forkSandboxRoute,
  resumeSandboxRoute,
  wakeSandboxRoute,
  connectSandboxRoute,
  connectSandboxV2Route,
  setSandboxTimeoutRoute,
  refreshSandboxRoute,
  updateSandboxNetworkRoute,
  listSandboxEventsRoute,
  listTeamLifecycleEventsRoute,
  listLifecycleEventsRoute,
  getSandboxLogsRoute,
  getSandboxLogsV2Route,
  getSandboxMetricsRoute,
  listSandboxMetricsRoute,
  listTeamsRoute,
  getTeamMetricsRoute,
  getTeamMetricsMaxRoute,
  listTemplatesRoute,
  listTemplatesV2Route,
  listDefaultTemplatesRoute,
  listReadyMadeTemplatesRoute,
  installReadyMadeTemplateRoute,
  getTemplateRoute,
  updateTemplateRoute,
  updateTemplateV2Route,
  deleteTemplateRoute,
  getTemplateAliasRoute,
  assignTagsRoute,
  deleteTagsRoute,
  listTagsRoute,
  countTagsRoute,
  checkTagRoute,
  listTagGroupsRoute,
  listTagAssignmentsRoute,
  getTemplateFilesRoute,
  uploadFilesRoute,
  createTemplateRoute,
  createTemplateV2Route,
  createTemplateV3Route,
  rebuildTemplateRoute,
  startBuildRoute,
  startBuildV2Route,
  getBuildStatusRoute,
  getBuildLogsRoute,
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
}

/** The control plane's HTTP server. The caller listens, and closes it before the context. */
export async function createApp(
  ctx: AppContext,
  { bodyTimeoutMs = BODY_TIMEOUT_MS, auditRefusedLimit, authenticatesAgainAfterMs }: AppOptions = {},
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

  // The order of control-plane.md 1.3: every hook runs in the order of its registration.
  await app.register(requestScopePlugin)
  await app.register(requestLogPlugin, { metrics: ctx.metrics })
  await app.register(secretsCachePlugin)
  await app.register(corsPlugin, { isSameOriginOnly: ({ originalUrl }) => dashboard.isOn && isDashboardUrl(originalUrl) })
  await app.register(errorsPlugin, { metrics: ctx.metrics })
  await app.register(drainPlugin, { drain: ctx.drain })
  await app.register(pressurePlugin, { maxEventLoopDelayMs: http.maxEventLoopDelayMs })
  await app.register(allowedHostsPlugin, { domain: ctx.config.domain, apiUrl: ctx.config.builds.apiUrl, names: http.allowedHosts })
  await app.register(bodiesPlugin)
  if (dashboard.isOn) await app.register(wirePlugin, { ctx })
  await app.register(authPlugin, {
    parts: ctx.auth,
    limits,
    authenticatesAgainAfterMs,
    principalOf: dashboard.isOn ? wirePrincipal(ctx) : undefined,
  })
  await app.register(auditPlugin, { audit: ctx.audit, refusedLimit: auditRefusedLimit })
  await app.register(openapiPlugin)

  registerHealthRoutes(app, ctx)
  registerAskCertificate(app, ctx)
  for (const register of ROUTES) register(app, ctx)
  if (dashboard.isOn) await app.register(dashboardPlugin, { prefix: '/dashboard', ctx })
  await app.ready()
  return app
}
