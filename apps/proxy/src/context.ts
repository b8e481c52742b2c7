import { Registry } from 'prom-client'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { needsTrafficToken, TokenChecks } from './access/token-checks.ts'
import { ProxyError } from './answers/proxy-error.ts'
import type { ProxyConfig } from './config.ts'
import { ClientAddresses } from '@sandyard/kit/net/client-addresses'
import { ClientConnections } from './connections/client-connections.ts'
import type { Finders } from './forward/find-exchange.ts'
import { ClientGone, type Forwarding } from './forward/forwarding.ts'
import { UpstreamPool } from './forward/upstream-pool.ts'
import { createMetrics, type ProxyMetrics } from './metrics.ts'
import { ConnectionTracker } from './routes/connection-tracker.ts'
import { RouteChanges } from './routes/route-changes.ts'
import { RouteCatalog } from './routes/route-catalog.ts'
import { RouteReader } from './routes/route-reader.ts'
import type { ProxySource, RouteSource } from './routes/route.ts'
import { TokenSeed } from './routes/token-seed.ts'
import { SandboxTokens } from './owners/sandbox-tokens.ts'
import { TokenOwners } from './owners/token-owners.ts'
import { LiveRoutes } from './wake/live-routes.ts'
import { WakeApi } from './wake/wake-api.ts'
import { Wakes } from './wake/wakes.ts'
import type { RequestHead } from './message/downstream-message.ts'

export interface ProxyParts {
  /** `databaseRoutes(database, log)`, or a map in tests. */
  readonly routes: ProxySource
  readonly log: Logger
  /** The registry of the metrics; a new one when absent. */
  readonly registry?: Registry
}

interface ProxyLoggers {
  /** Requests, upgrades and errors of clients. */
  readonly traffic: Logger
  /** The catalog and the connections that it ends. */
  readonly routes: Logger
}

/** The parts of a proxy. Nothing runs before its server listens. */
export interface ProxyContext extends Forwarding {
  readonly config: ProxyConfig
  readonly routes: RouteSource
  readonly catalog: RouteCatalog
  readonly changes: RouteChanges
  readonly wakeApi: WakeApi
  readonly liveRoutes: LiveRoutes
  readonly tracker: ConnectionTracker
  readonly pool: UpstreamPool
  readonly tokens: SandboxTokens
  readonly clients: ClientConnections
  readonly finders: Finders
  readonly headerHosts: ReadonlySet<string>
  readonly log: ProxyLoggers
  readonly metrics: ProxyMetrics
}

/** The longest life of a wrong route after a lost notification. A lower value costs more queries: one for each sandbox and period. */
const ROUTE_MAX_AGE_MS = 3000
const MISS_MAX_AGE_MS = 1000

/** @throws when a setting contains an invalid address */
export function createContext(config: ProxyConfig, { routes, log, registry = new Registry() }: ProxyParts): ProxyContext {
  const loggers: ProxyLoggers = { traffic: log.child({ part: 'proxy.traffic' }), routes: log.child({ part: 'proxy.routes' }) }
  const reader = new RouteReader(routes, { maxQueries: config.routeQueries, maxWaiting: config.maxRouteLookups })
  const catalog = new RouteCatalog(reader, { maxAgeMs: ROUTE_MAX_AGE_MS, missAgeMs: MISS_MAX_AGE_MS, maxEntries: config.routeCacheSize })
  const tracker = new ConnectionTracker(reader, {
    maxConnections: config.maxSandboxConnections,
    maxClientConnections: config.maxSandboxClientConnections ?? Math.ceil(config.maxSandboxConnections / 2),
    log: loggers.routes,
  })
  const tokenSeed = new TokenSeed(routes)
  const tokens = new SandboxTokens(routes, tokenSeed)
  const owners = new TokenOwners(tokens, config.maxSignedLookups)
  const checks = new TokenChecks(tokenSeed)
  const changes = new RouteChanges()
  const wakeApi = new WakeApi(tokenSeed, { url: config.apiInternalUrl, timeoutMs: config.waitTimeoutMs, log: loggers.routes })
  const wakes = new Wakes((sandboxId, signal) => wakeApi.wake(sandboxId, signal))
  const addresses = new ClientAddresses(config.fronts)
  const clientOf = (req: RequestHead): string | undefined => addresses.ofRequest(req)
  const liveRoutes = new LiveRoutes({ catalog, changes, checks, wakes, limits: config, clientOf })
  const metrics = createMetrics(registry, () => ({ forwarded: tracker.count, waiting: liveRoutes.waiting, ...clients.counts }))
  const clients = new ClientConnections({ limits: config, addresses, countRefused: metrics.countRefused })
  const ctx: ProxyContext = {
    config,
    limits: config,
    clientOf,
    routes,
    catalog,
    changes,
    wakeApi,
    liveRoutes,
    tracker,
    pool: new UpstreamPool(),
    tokens,
    clients,
    finders: {
      proven: (proof, req) => owners.find(proof, clientOf(req)),
      known: (sandboxId) => liveRoutes.known(sandboxId),
      live: (visit) => orUnavailable(visit.sandboxId, liveRoutes.find(visit)),
      checkTraffic: (visit, route) =>
        needsTrafficToken(visit, route) ? orUnavailable(visit.sandboxId, checks.checkTraffic(visit, route)) : undefined,
    },
    isCurrent: (route) => orUnavailable(route.sandboxId, catalog.isCurrent(route)),
    tunnelSecret: (sandboxId) => orUnavailable(sandboxId, tokenSeed.tunnelSecret(sandboxId)),
    headerHosts: new Set(config.headerHosts.map((host) => host.toLowerCase())),
    log: loggers,
    metrics,
  }
  return Object.freeze(ctx)
}

async function orUnavailable<T>(sandboxId: string, read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (err) {
    throw err instanceof ProxyError || err instanceof ClientGone ? err : new ProxyError({ kind: 'unavailable', sandboxId }, err)
  }
}
