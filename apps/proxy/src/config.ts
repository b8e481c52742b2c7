import { DIRECT_URL_SETTING } from '@sandyard/db/database-settings'
import { env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'
import { TRACING_SETTINGS } from '@sandyard/kit/tracing/tracing-config'

/** Every cap of the proxy (docs/limits.md describes what a client gets). */
export const proxyLimitSettings = {
  maxConnections: env.count('SANDYARD_PROXY_MAX_CONNECTIONS', { default: 20_000, doc: 'open connections of clients to the proxy' }),
  maxClientConnections: env.count('SANDYARD_PROXY_MAX_CLIENT_CONNECTIONS', {
    default: 10_000,
    doc: 'open connections of one client address to the proxy; a network of 64 bits counts as one for IPv6',
  }),
  maxRequests: env.count('SANDYARD_PROXY_MAX_REQUESTS', {
    default: 20_000,
    doc: 'requests and upgraded connections in flight in the proxy, with those that wait behind others of their connection',
  }),
  maxClientRequests: env.count('SANDYARD_PROXY_MAX_CLIENT_REQUESTS', { default: 10_000, doc: 'the same for one client address' }),
  maxSandboxConnections: env.count('SANDYARD_PROXY_MAX_SANDBOX_CONNECTIONS', {
    default: 10_000,
    doc: 'requests and upgraded connections in flight to one sandbox',
  }),
  maxSandboxClientConnections: env.count('SANDYARD_PROXY_MAX_SANDBOX_CLIENT_CONNECTIONS', {
    default: undefined,
    doc: 'the same for one client address. Default: half of SANDYARD_PROXY_MAX_SANDBOX_CONNECTIONS',
  }),
  maxWaiting: env.count('SANDYARD_PROXY_MAX_WAITING', {
    default: 4096,
    doc: 'requests that wait until their paused or changing sandboxes run',
  }),
  maxSandboxWaiting: env.count('SANDYARD_PROXY_MAX_SANDBOX_WAITING', { default: 1024, doc: 'the same for one sandbox' }),
  waitTimeoutMs: env.duration('SANDYARD_PROXY_WAIT_TIMEOUT', { default: 60_000, doc: 'how long one of them waits' }),
  maxConnectionRequests: env.count('SANDYARD_PROXY_MAX_CONNECTION_REQUESTS', {
    default: 100_000,
    doc: 'requests on one connection before it is closed',
  }),
  maxPipelined: env.count('SANDYARD_PROXY_MAX_PIPELINED', {
    default: 16,
    doc: 'requests that wait behind another of their connection before the proxy stops reading from it',
  }),
  maxHeaderBytes: env.size('SANDYARD_PROXY_MAX_HEADERS', { default: 64 * 1024, doc: 'largest head of a request' }),
  maxHeadBytes: env.size('SANDYARD_PROXY_MAX_HEAD_BYTES', {
    default: 128 * 1024 ** 2,
    doc: 'memory for the heads over 8 KiB of all requests in flight, also those that have arrived in part, where each name and each value counts 64 bytes beside its text; half of it for one client address',
  }),
  headersTimeoutMs: env.duration('SANDYARD_PROXY_HEADERS_TIMEOUT', {
    default: 30_000,
    doc: 'how long a client may take to send the head of a request',
  }),
  idleTimeoutMs: env.duration('SANDYARD_PROXY_IDLE_TIMEOUT', {
    default: 620_000,
    doc: 'how long a connection without a request stays open',
  }),
  bodyRestTimeoutMs: env.duration('SANDYARD_PROXY_BODY_REST_TIMEOUT', {
    default: 30_000,
    doc: 'how long a client may go on with the body of a request that has its answer; then its connection is closed',
  }),
  halfOpenTimeoutMs: env.duration('SANDYARD_PROXY_HALF_OPEN_TIMEOUT', {
    default: 2000,
    doc: 'how long a client that has ended its sending may take nothing of what is sent to it; then its connection is closed',
  }),
  cancelTimeoutMs: env.duration('SANDYARD_PROXY_CANCEL_TIMEOUT', {
    default: 200,
    doc: 'how long there may be nothing to send to a client that has ended its sending; then what it asked for is cancelled',
  }),
  maxInterimAnswers: env.count('SANDYARD_PROXY_MAX_INTERIM_ANSWERS', { default: 1000, doc: 'interim answers (1xx) to one request' }),
  maxInterimBytes: env.size('SANDYARD_PROXY_MAX_INTERIM_BYTES', {
    default: 256 * 1024,
    doc: 'bytes of the interim answers to one request',
  }),
  routeQueries: env.count('SANDYARD_PROXY_ROUTE_QUERIES', { default: 4, doc: 'database queries at once for the routes of sandboxes' }),
  maxRouteLookups: env.count('SANDYARD_PROXY_MAX_ROUTE_LOOKUPS', { default: 4096, doc: 'sandboxes that wait for such a query' }),
  routeCacheSize: env.count('SANDYARD_PROXY_ROUTE_CACHE', {
    default: 10_000,
    doc: 'routes of sandboxes that the proxy caches, and as many ids without a sandbox',
  }),
  maxSignedLookups: env.count('SANDYARD_PROXY_MAX_SIGNED_LOOKUPS', {
    default: 256,
    doc: 'requests that name no sandbox, signed URLs and those of older clients, that wait until the owner of their token is found',
  }),
} as const

/** The settings for serving traffic. */
export const proxySettings = {
  bind: env.text('SANDYARD_BIND', { default: '127.0.0.1', doc: 'address to listen on' }),
  port: env.port('SANDYARD_PROXY_PORT', { default: 3002, doc: 'port of sandbox traffic (E2B_SANDBOX_URL); 0 is any free one' }),
  headerHosts: env.list('SANDYARD_PROXY_HEADER_HOSTS', {
    default: [],
    doc: 'more host names, such as a service name in Compose, on which E2b-Sandbox-Id and E2b-Sandbox-Port are used',
  }),
  fronts: env.list('SANDYARD_PROXY_FRONTS', {
    default: [],
    doc: 'addresses and networks (10.0.0.0/8) of trusted servers in front of the proxy; their clients are identified by the last address in X-Forwarded-For',
  }),
  apiInternalUrl: env.text('SANDYARD_API_INTERNAL_URL', {
    default: undefined,
    doc: 'URL of the control plane, which resumes paused sandboxes for traffic; set by `npm start` for its proxy. Without it no traffic resumes a sandbox',
  }),
  drainMs: env.duration('SANDYARD_PROXY_DRAIN', { default: 2000, doc: 'how long open requests may continue when the proxy stops' }),
  logLevel: env.text('SANDYARD_LOG_LEVEL', { default: 'info', doc: 'fatal, error, warn, info, debug or trace' }),
  ...proxyLimitSettings,
} as const

/** Every setting of the proxy as a process. */
export const PROXY_PROCESS_SETTINGS = {
  ...proxySettings,
  ...TRACING_SETTINGS,
  databaseUrl: env.secret('DATABASE_URL', { doc: 'URL of the Postgres database' }),
  ...DIRECT_URL_SETTING,
  metricsPort: env.port('SANDYARD_PROXY_METRICS_PORT', {
    default: undefined,
    doc: 'port of the metrics of a proxy that runs by itself (3004 in Compose); 0 takes a free one, none is opened when absent. The proxy of `npm start` is on the page of SANDYARD_METRICS_PORT',
  }),
  metricsBind: env.text('SANDYARD_PROXY_METRICS_BIND', { default: '127.0.0.1', doc: 'address of that port; clients must not reach it' }),
  databaseConnections: env.integer('SANDYARD_PROXY_DB_CONNECTIONS', {
    default: 5,
    doc: 'Database connections of the proxy process. One more follows the changes of routes.',
  }),
} as const

export type ProxyConfig = ConfigOf<typeof proxySettings>
/** The caps alone. */
export type ProxyLimits = ConfigOf<typeof proxyLimitSettings>

/** @throws ConfigError that lists every problem */
export function parseProxyConfig(environment: Environment): ProxyConfig {
  return parseConfig(proxySettings, environment)
}
