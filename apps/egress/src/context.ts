import { getServers } from 'node:dns'
import { isIPv4 } from 'node:net'
import type { Server } from 'node:http'
import { Registry } from 'prom-client'
import type { Database } from '@sandyard/db/database'
import { readIdentityIssuer } from '@sandyard/db/identity-issuer'
import { readTokenSeed } from '@sandyard/db/read-token-seed'
import { loadOnce } from '@sandyard/kit/async/load-once'
import { keyRingOf } from '@sandyard/kit/secrets/key-settings'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { EgressConfig, EgressLimits } from './config.ts'
import { ConnectionTracker } from './connections/connection-tracker.ts'
import { SourceSlots } from './connections/source-slots.ts'
import { DecisionLog } from './decisions/decision-log.ts'
import type { DialParts } from './dial/dial.ts'
import { nameResolver } from './dial/resolve-name.ts'
import type { ResolverAddress } from './dns/ask-resolver.ts'
import { SourceCounts } from './dns/source-counts.ts'
import { RateLimit } from './connections/rate-limit.ts'
import { createMetrics, type EgressMetrics } from './metrics.ts'
import { readOriginalDestination, type ReadOriginalDestination } from './native/original-destination.ts'
import { closedAddresses, type ClosedAddresses } from './policy/closed-addresses.ts'
import { closedWithProxy, CompanyProxy } from './policy/company-proxy.ts'
import type { PortKind } from './policy/decide.ts'
import { localNetworks } from './policy/local-networks.ts'
import { databaseSandboxes, type SandboxSource } from './sandboxes/database-sandboxes.ts'
import { SandboxCatalog } from './sandboxes/sandbox-catalog.ts'
import { IdentityTokens } from './secrets/identity-tokens.ts'
import { readSecrets } from './secrets/read-secrets.ts'
import { SecretValues } from './secrets/secret-values.ts'
import { ValueBudget } from './secrets/value-budget.ts'
import { Certificates } from './web/certificates.ts'
import { WebConnections } from './web/web-connection.ts'
import { createWebServer } from './web/web-server.ts'

export interface EgressParts {
  readonly database: Database
  readonly log: Logger
  /** The registry of the metrics; a new one when absent. */
  readonly registry?: Registry
  /** For tests, which have no packet rules and no public network. */
  readonly instead?: {
    readonly readOriginalDestination?: ReadOriginalDestination
    readonly closed?: ClosedAddresses
    /** The resolvers of this host, as `address:port`. */
    readonly resolvers?: readonly string[]
    /** The port of the resolvers that policies name. */
    readonly resolverPort?: number
    /** The ports that names are read on; 443 and 80 when absent. */
    readonly namedPorts?: { readonly tls: number; readonly http: number }
    /** The authorities that origins are checked with, in PEM; those of Node when absent. */
    readonly originAuthorities?: readonly string[]
  }
}

/** The parts of the gateway. Nothing runs before it listens. */
export interface EgressContext extends DialParts {
  readonly config: EgressConfig
  readonly limits: EgressLimits
  readonly database: Database
  readonly log: Logger
  readonly source: SandboxSource
  readonly sandboxes: SandboxCatalog
  readonly tracker: ConnectionTracker
  readonly slots: SourceSlots
  readonly readOriginalDestination: ReadOriginalDestination
  readonly closed: ClosedAddresses
  readonly companyProxy: CompanyProxy
  readonly kindOf: (port: number) => PortKind
  readonly originAuthorities: readonly string[] | undefined
  readonly certificates: Certificates
  readonly secrets: SecretValues
  readonly identityTokens: IdentityTokens
  readonly valueBudget: ValueBudget
  readonly web: WebConnections
  readonly webServer: Server
  readonly connectionRate: RateLimit
  readonly lookupRate: RateLimit
  readonly pendingLookups: SourceCounts
  /** Connections for lookups. */
  readonly lookupConnections: SourceCounts
  /** The resolvers to ask for a policy: its own, else those of this host. */
  readonly resolversOf: (dnsServers: readonly string[]) => readonly ResolverAddress[]
  readonly metrics: EgressMetrics
  readonly decisions: DecisionLog
  /** The address that connections are redirected to; undefined until it is known. */
  readonly gateway: { host: string | undefined }
}

/** Lookups in flight of all sandboxes: each has a socket of its own. */
const MAX_PENDING_LOOKUPS = 2000
const MAX_LOOKUP_CONNECTIONS = 2000

/** Decisions that are kept between two writes. */
const MAX_SANDBOX_PENDING_ROWS = 64
const MAX_PENDING_ROWS = 10_000

/** Certificates that are made for one sandbox; each costs some milliseconds. */
const MAX_CERTIFICATES_PER_SECOND = 10

/** Secrets and identity tokens in the requests under way. */
const MAX_VALUES = { sandboxChars: 4 * 1024 ** 2, teamChars: 16 * 1024 ** 2, allChars: 128 * 1024 ** 2 }

const DNS_PORT = 53
const NAMED_PORTS = { tls: 443, http: 80 }

export function createContext(
  config: EgressConfig,
  { database, log, registry = new Registry(), instead = {} }: EgressParts,
): EgressContext {
  const gateway: EgressContext['gateway'] = { host: undefined }
  const source = databaseSandboxes(database, log.child({ part: 'egress.sandboxes' }))
  const sandboxes = new SandboxCatalog((addresses) => source.read(addresses))
  const tracker = new ConnectionTracker((addresses) => sandboxes.readMany(addresses))
  const metrics = createMetrics(registry, () => tracker.count)
  const companyProxy = new CompanyProxy(config.httpProxy, (name, dnsServers) => ctx.resolve(name, dnsServers))
  const networks = { control: config.controlNetworks, opened: config.allowPrivate, local: localNetworks(() => gateway.host) }
  const closed = closedWithProxy(instead.closed ?? closedAddresses(networks), companyProxy)
  const { resolverPort = DNS_PORT, namedPorts = NAMED_PORTS } = instead
  const hostResolvers = instead.resolvers ?? config.resolvers
  const resolversOf = (dnsServers: readonly string[]): ResolverAddress[] => {
    if (dnsServers.length > 0) {
      return dnsServers.filter((server) => !closed.isClosed(server, resolverPort)).map((host) => ({ host, port: resolverPort }))
    }
    const ofHost = hostResolvers.length > 0 ? hostResolvers : getServers()
    return ofHost.map(toResolverAddress).filter(({ host }) => isIPv4(host))
  }
  const readSeed = loadOnce(() => readTokenSeed(database.db))
  const ring = keyRingOf(config)
  const ctx: EgressContext = {
    config,
    limits: config,
    database,
    log: log.child({ part: 'egress.traffic' }),
    source,
    sandboxes,
    tracker,
    slots: new SourceSlots(config),
    readOriginalDestination: instead.readOriginalDestination ?? readOriginalDestination,
    closed,
    companyProxy,
    resolve: nameResolver(resolversOf),
    connectTimeoutMs: config.connectTimeoutMs,
    kindOf: (port) => (port === namedPorts.tls ? 'tls' : port === namedPorts.http ? 'http' : 'other'),
    originAuthorities: instead.originAuthorities,
    certificates: new Certificates(readSeed, new RateLimit(MAX_CERTIFICATES_PER_SECOND)),
    secrets: new SecretValues((keys) => readSecrets(database.db, keys, { ring, log: log.child({ part: 'egress.secrets' }) })),
    identityTokens: new IdentityTokens(readSeed, () => readIdentityIssuer(database.db)),
    valueBudget: new ValueBudget(MAX_VALUES),
    web: new WebConnections(),
    webServer: createWebServer(() => ctx, config.idleTimeoutMs),
    connectionRate: new RateLimit(config.maxSandboxRate),
    lookupRate: new RateLimit(config.maxSandboxLookups),
    pendingLookups: new SourceCounts(MAX_PENDING_LOOKUPS),
    lookupConnections: new SourceCounts(MAX_LOOKUP_CONNECTIONS),
    resolversOf,
    metrics,
    decisions: new DecisionLog({ perSandbox: MAX_SANDBOX_PENDING_ROWS, inAll: MAX_PENDING_ROWS }, metrics.countDropped),
    gateway,
  }
  return ctx
}

/** Reads `1.2.3.4` and `1.2.3.4:53`. */
function toResolverAddress(server: string): ResolverAddress {
  const [host = '', port = String(DNS_PORT)] = server.split(':')
  return { host, port: Number(port) }
}
