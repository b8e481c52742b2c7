import { totalmem } from 'node:os'
import { ConfigError, env, parseConfig, type ConfigSchema, type Environment } from '@sandyard/kit/config/parse-config'
import type { Secret } from '@sandyard/kit/config/secret'
import { parseRateLimit, type RateLimits } from './http/rate-limit.ts'
import type { SandboxLimits } from './sandboxes/create-sandbox.ts'

/** Every setting of the control plane. */
export const API_SETTINGS = {
  bind: env.text('SANDYARD_BIND', { default: '127.0.0.1', doc: 'address that the servers listen on' }),
  apiPort: env.port('SANDYARD_API_PORT', { default: 3000, doc: 'port of the control plane' }),
  metricsPort: env.port('SANDYARD_METRICS_PORT', { default: 3001, doc: 'port of the metrics, not for clients' }),
  proxyPort: env.port('SANDYARD_PROXY_PORT', { default: 3002, doc: 'port of the sandbox proxy' }),
  domain: env.text('SANDYARD_DOMAIN', {
    default: undefined,
    doc: 'domain of sandbox URLs, with its port where there is one; localhost:<proxy port> when absent',
  }),
  logLevel: env.text('SANDYARD_LOG_LEVEL', { default: 'info', doc: 'least severe level that is logged' }),
  databaseUrl: env.secret('DATABASE_URL', { default: undefined, doc: 'Postgres' }),
  adminToken: env.secret('SANDYARD_ADMIN_TOKEN', { default: undefined, doc: 'X-Admin-Token of administrators; none are let in without' }),
  maxSandboxes: env.integer('SANDYARD_MAX_SANDBOXES', {
    default: undefined,
    doc: 'sandboxes that a team may have at once; from the memory of the host when absent',
  }),
  maxSandboxLifetime: env.duration('SANDYARD_MAX_SANDBOX_LIFETIME', {
    default: 24 * 3_600_000,
    doc: 'longest life of a sandbox, 24h at most',
  }),
  rateLimits: env.list('SANDYARD_RATE_LIMITS', {
    default: [],
    doc: 'requests of a team a route: <operation>=<rate>/<period in seconds>:<burst>, comma-separated; none when absent',
  }),
  drain: env.duration('SANDYARD_DRAIN', { default: 15_000, doc: 'how long /health says 503 before the server stops' }),
} satisfies ConfigSchema

export interface ApiConfig {
  readonly bind: string
  readonly apiPort: number
  readonly metricsPort: number
  /** Where sandboxes are reached, as clients are told. */
  readonly domain: string
  readonly logLevel: string
  readonly databaseUrl: Secret | undefined
  readonly adminToken: Secret | undefined
  readonly limits: SandboxLimits
  readonly rateLimits: RateLimits
  readonly drainMs: number
}

const DAY_MS = 24 * 3_600_000
const LEAST_MAX_SANDBOXES = 20
/** What an idle sandbox really takes is far less than it may, so the host is shared by more of them than it has memory for. */
const HOST_MIB_PER_SANDBOX = 128

/** @throws ConfigError that lists every problem */
export function parseApiConfig(environment: Environment): ApiConfig {
  const settings = parseConfig(API_SETTINGS, environment)
  const { maxSandboxes, maxSandboxLifetime } = settings
  const problems: string[] = []
  if (maxSandboxes !== undefined && maxSandboxes < 1) problems.push('SANDYARD_MAX_SANDBOXES must be at least 1')
  if (maxSandboxLifetime < 1000 || maxSandboxLifetime > DAY_MS) problems.push('SANDYARD_MAX_SANDBOX_LIFETIME must be between 1s and 24h')
  const rateLimits = settings.rateLimits.map(parseRateLimit)
  problems.push(...rateLimits.filter((limit) => typeof limit === 'string'))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze({
    bind: settings.bind,
    apiPort: settings.apiPort,
    metricsPort: settings.metricsPort,
    domain: settings.domain ?? `localhost:${settings.proxyPort}`,
    logLevel: settings.logLevel,
    databaseUrl: settings.databaseUrl,
    adminToken: settings.adminToken,
    limits: {
      concurrentSandboxes: maxSandboxes ?? Math.max(LEAST_MAX_SANDBOXES, Math.floor(totalmem() / 1024 ** 2 / HOST_MIB_PER_SANDBOX)),
      maxLifetimeSeconds: Math.floor(maxSandboxLifetime / 1000),
    },
    rateLimits: new Map(rateLimits.filter((limit) => typeof limit !== 'string')),
    drainMs: settings.drain,
  })
}
