import { Registry } from 'prom-client'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { ProxyConfig } from './config.ts'
import { ConnectionTracker } from './routes/connection-tracker.ts'
import type { Forwarding } from './forward/forwarding.ts'
import { createLoggers, type ProxyLoggers } from './loggers.ts'
import { createMetrics, type ProxyMetrics } from './metrics.ts'
import { RouteCatalog } from './routes/route-catalog.ts'
import type { RouteSource } from './routes/route.ts'
import { ProxyError } from './answers/proxy-error.ts'
import { SandboxTokens, type SecuredSandboxes } from './signed/sandbox-tokens.ts'
import { SignedUrlFinder } from './signed/signed-url-finder.ts'
import { TunnelSecrets } from './routes/tunnel-secrets.ts'
import { UpstreamAgents } from './forward/upstream-agents.ts'

export interface ProxyParts {
  /** `databaseRoutes(database, log)`, or a map in tests. */
  readonly routes: RouteSource & SecuredSandboxes
  readonly log: Logger
  /** Where the metrics go; a registry of its own when absent. */
  readonly registry?: Registry
}

/** The parts of a proxy. Nothing runs before its server listens. */
export interface ProxyContext extends Forwarding {
  readonly config: ProxyConfig
  readonly routes: RouteSource
  readonly catalog: RouteCatalog
  readonly tracker: ConnectionTracker
  readonly agents: UpstreamAgents
  readonly tokens: SandboxTokens
  readonly signedUrls: SignedUrlFinder
  readonly headerHosts: ReadonlySet<string>
  readonly log: ProxyLoggers
  readonly metrics: ProxyMetrics
}

/** A wrong route lives no longer than this where a notification got lost; a query per sandbox and period is the price. */
const ROUTE_MAX_AGE_MS = 3000
const MAX_ROUTES = 10_000

export function createContext(config: ProxyConfig, { routes, log, registry = new Registry() }: ProxyParts): ProxyContext {
  const loggers = createLoggers(log)
  const catalog = new RouteCatalog(routes, { maxAgeMs: ROUTE_MAX_AGE_MS, maxEntries: MAX_ROUTES })
  const tracker = new ConnectionTracker(routes, loggers.routes)
  const tokens = new SandboxTokens(routes)
  const tunnelSecrets = new TunnelSecrets(routes)
  const ctx: ProxyContext = {
    config,
    routes,
    catalog,
    tracker,
    agents: new UpstreamAgents(),
    tokens,
    signedUrls: new SignedUrlFinder(tokens),
    isCurrent: (route) =>
      catalog.isCurrent(route).catch((err: unknown) => {
        throw new ProxyError({ kind: 'unavailable', sandboxId: route.sandboxId }, err)
      }),
    tunnelSecret: (sandboxId) =>
      tunnelSecrets.find(sandboxId).catch((err: unknown) => {
        throw new ProxyError({ kind: 'unavailable', sandboxId }, err)
      }),
    headerHosts: new Set(config.headerHosts.map((host) => host.toLowerCase())),
    log: loggers,
    metrics: createMetrics(registry, () => tracker.count),
  }
  return Object.freeze(ctx)
}
