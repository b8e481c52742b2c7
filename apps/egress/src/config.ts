import { DIRECT_URL_SETTING } from '@sandyard/db/database-settings'
import { KEY_SETTINGS, KEY_SOURCE_SETTINGS } from '@sandyard/kit/secrets/key-settings'
import { OUTBOUND_SETTINGS } from '@sandyard/kit/outbound/outbound'
import { env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'

/** Every cap of the gateway (docs/limits.md describes what a sandbox notices). */
const limitSettings = {
  maxConnections: env.count('SANDYARD_EGRESS_MAX_CONNECTIONS', {
    default: 20_000,
    doc: 'open connections of all sandboxes in the egress gateway',
  }),
  maxSandboxConnections: env.count('SANDYARD_EGRESS_MAX_SANDBOX_CONNECTIONS', { default: 1000, doc: 'the same of one sandbox' }),
  maxSandboxPending: env.count('SANDYARD_EGRESS_MAX_SANDBOX_PENDING', {
    default: 128,
    doc: 'connections of one sandbox for which the egress gateway has not decided or not connected yet',
  }),
  maxSandboxRate: env.count('SANDYARD_EGRESS_MAX_SANDBOX_RATE', {
    default: 200,
    doc: 'connections of one sandbox in a second that the egress gateway accepts; a burst may have twice as many',
  }),
  peekTimeoutMs: env.duration('SANDYARD_EGRESS_PEEK_TIMEOUT', {
    default: 10_000,
    doc: 'how long a connection to port 80 or 443 may take to name its server',
  }),
  connectTimeoutMs: env.duration('SANDYARD_EGRESS_CONNECT_TIMEOUT', {
    default: 10_000,
    doc: 'how long the egress gateway tries to reach a server, with the lookup and the SOCKS5 proxy',
  }),
  idleTimeoutMs: env.duration('SANDYARD_EGRESS_IDLE_TIMEOUT', {
    default: 3_600_000,
    doc: 'how long a connection through the egress gateway may be silent in both directions',
  }),
  maxSandboxLookups: env.count('SANDYARD_EGRESS_MAX_SANDBOX_LOOKUPS', {
    default: 100,
    doc: 'filtered lookups of one sandbox in a second; a burst may have twice as many',
  }),
  maxSandboxDecisions: env.count('SANDYARD_EGRESS_MAX_SANDBOX_DECISIONS', {
    default: 1000,
    doc: 'newest rows with decisions on connections that are kept for each sandbox',
  }),
} as const

const egressSettings = {
  tcpPort: env.port('SANDYARD_EGRESS_TCP_PORT', { default: 18_443, doc: 'port of the egress gateway for redirected connections' }),
  dnsPort: env.port('SANDYARD_EGRESS_DNS_PORT', {
    default: 18_053,
    doc: 'port of the egress gateway for redirected lookups (UDP and TCP)',
  }),
  healthPort: env.port('SANDYARD_EGRESS_HEALTH_PORT', {
    default: 3003,
    doc: 'port of the health check and the metrics of the egress gateway; 0 takes a free one',
  }),
  healthBind: env.list('SANDYARD_EGRESS_HEALTH_BIND', {
    default: ['127.0.0.1'],
    doc: 'addresses of that port, the loopback address for the health check among them; sandboxes and clients must not reach the others',
  }),
  resolvers: env.list('SANDYARD_RESOLVERS', { default: [], doc: "IPv4 resolvers of sandboxes; those of the engine's host when empty." }),
  allowPrivate: env.list('SANDYARD_EGRESS_ALLOW_PRIVATE', {
    default: [],
    doc: 'Private IPv4 networks (RFC 1918) that sandboxes may reach.',
  }),
  controlNetworks: env.list('SANDYARD_CONTROL_NETWORKS', {
    default: [],
    doc: 'IPv4 networks of the control plane, which sandboxes never reach.',
  }),
  ...KEY_SETTINGS,
  extraCa: OUTBOUND_SETTINGS.extraCa,
  httpProxy: OUTBOUND_SETTINGS.httpProxy,
  drainMs: env.duration('SANDYARD_EGRESS_DRAIN', {
    default: 2000,
    doc: 'how long open connections may continue when the egress gateway stops',
  }),
  logLevel: env.text('SANDYARD_LOG_LEVEL', { default: 'info', doc: 'fatal, error, warn, info, debug or trace' }),
  ...limitSettings,
} as const

/** Every setting of the egress gateway as a process. */
export const EGRESS_PROCESS_SETTINGS = {
  ...egressSettings,
  ...KEY_SOURCE_SETTINGS,
  databaseUrl: env.secret('DATABASE_URL', { doc: 'URL of the Postgres database' }),
  ...DIRECT_URL_SETTING,
  databaseConnections: env.integer('SANDYARD_EGRESS_DB_CONNECTIONS', {
    default: 3,
    doc: 'Database connections of the egress gateway. One more follows the changes of sandboxes.',
  }),
} as const

export type EgressConfig = ConfigOf<typeof egressSettings>
/** The caps alone. */
export type EgressLimits = ConfigOf<typeof limitSettings>

/** @throws ConfigError that lists every problem */
export function parseEgressConfig(environment: Environment): EgressConfig {
  return parseConfig(egressSettings, environment)
}
