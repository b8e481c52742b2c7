import { totalmem } from 'node:os'
import { ADMISSION_SETTINGS, admissionOf, type AdmissionConfig } from './admission/admission-config.ts'
import { ConfigError, env, parseConfig, type ConfigSchema, type Environment } from '@sandyard/kit/config/parse-config'
import type { Secret } from '@sandyard/kit/config/secret'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { KEY_SETTINGS, KEY_SOURCE_SETTINGS, keyRingOf } from '@sandyard/kit/secrets/key-settings'
import { OUTBOUND_SETTINGS, outboundOf, type Outbound } from '@sandyard/kit/outbound/outbound'
import { checkDashboardSettings, DASHBOARD_SETTINGS, type DashboardConfig } from './dashboard/dashboard-config.ts'
import { checkHttpSettings, HTTP_SETTINGS, type HttpConfig } from './http/http-config.ts'
import { checkOidcSettings, OIDC_SETTINGS, type OidcConfig } from './auth/oidc/oidc-config.ts'
import type { StorageLimits } from './teams/storage-limits.ts'
import type { SandboxLimits } from './sandboxes/sandbox-limits.ts'
import { checkRetention, RETENTION_SETTINGS, type RetentionConfig } from './settings/retention.ts'
import { checkTracing, TRACING_SETTINGS, type TracingConfig } from '@sandyard/kit/tracing/tracing-config'
import { checkWebhookSettings, WEBHOOK_SETTINGS, type WebhookConfig } from './webhooks/webhook-config.ts'
import { checkPoolSettings, POOL_SETTINGS, type PoolConfig } from './warm-pool/pool-config.ts'
import { BUILD_SETTINGS, checkBuildSettings, type BuildConfig } from './builds/build-config.ts'

/** Every setting of the control plane. The program that runs it adds the settings for its listeners, database and engine. */
export const API_SETTINGS = {
  ...BUILD_SETTINGS,
  ...RETENTION_SETTINGS,
  ...POOL_SETTINGS,
  proxyPort: env.port('SANDYARD_PROXY_PORT', { default: 3002, doc: 'port of the sandbox proxy' }),
  domain: env.text('SANDYARD_DOMAIN', {
    default: undefined,
    doc: 'domain of sandbox URLs, with a port if there is one. Default: localhost:<proxy port>',
  }),
  adminToken: env.secret('SANDYARD_ADMIN_TOKEN', {
    default: undefined,
    doc: 'X-Admin-Token of administrators; without it administrators have no access',
  }),
  maxSandboxes: env.integer('SANDYARD_MAX_SANDBOXES', {
    default: undefined,
    doc: 'sandboxes of a team at once. Default: derived from the memory of the machine of the server',
  }),
  maxPausedSandboxes: env.count('SANDYARD_MAX_PAUSED_SANDBOXES', {
    default: 1000,
    doc: 'sandboxes of a team that are paused, or will be at their end time (autoPause)',
  }),
  maxSnapshots: env.count('SANDYARD_MAX_SNAPSHOTS', {
    default: 10_000,
    doc: 'snapshots that a team keeps, those that a newer one has replaced under their name included',
  }),
  createsPerMinute: env.count('SANDYARD_CREATES_PER_MINUTE', {
    default: undefined,
    doc: 'creates and forks of a team in a minute, over all servers; no limit when absent',
  }),
  createBurst: env.count('SANDYARD_CREATE_BURST', {
    default: undefined,
    doc: 'creates and forks of a team that may come at once. Default: as many as in a minute',
  }),
  maxSandboxLifetime: env.duration('SANDYARD_MAX_SANDBOX_LIFETIME', {
    default: 24 * 3_600_000,
    doc: 'longest lifetime of a sandbox, at most 24h',
  }),
  maxStored: env.size('SANDYARD_MAX_STORED', {
    default: undefined,
    doc: 'what the volumes and uploads of a team may take together; no limit when absent',
  }),
  pausedMemory: env.share('SANDYARD_PAUSED_MEMORY', {
    default: 0.5,
    doc: 'share of the memory of the host of the engine, 0 to 1, that paused sandboxes may keep; beyond it the longest-paused keep their files only',
  }),
  drain: env.duration('SANDYARD_API_DRAIN', {
    default: 60_000,
    doc: 'how long requests in flight, including creates, may run after the server begins to stop',
  }),
  maxSandboxSeries: env.integer('SANDYARD_METRICS_MAX_SANDBOXES', {
    default: 0,
    doc: 'sandboxes that have series of their own in the metrics (processors, memory, disk), six for each: those that run the longest; 0 is none, at most 10000',
  }),
  tlsNamesPerHour: env.integer('SANDYARD_TLS_NAMES_PER_HOUR', {
    default: 1000,
    doc: 'new names of sandboxes in an hour for which a reverse proxy may get certificates, 0 to 100000; set it to what a public certificate authority allows',
  }),
  adoptEngine: env.text('SANDYARD_ADOPT_ENGINE', {
    default: undefined,
    doc: 'for one start: the id of the new engine of the installation, from the message of the refused start; ends the sandboxes of the former engine',
  }),
  issuesAccessTokens: env.boolean('SANDYARD_ISSUE_ACCESS_TOKENS', {
    default: true,
    doc: 'whether users may make access tokens; those that exist stay valid',
  }),
  teamPublicNames: env.boolean('SANDYARD_TEAM_PUBLIC_NAMES', {
    default: false,
    doc: 'Whether a team may give a template a name without a namespace, which is visible to every team; administrators always may',
  }),
  ...ADMISSION_SETTINGS,
  ...DASHBOARD_SETTINGS,
  ...HTTP_SETTINGS,
  ...KEY_SETTINGS,
  ...OIDC_SETTINGS,
  ...KEY_SOURCE_SETTINGS,
  ...OUTBOUND_SETTINGS,
  ...TRACING_SETTINGS,
  ...WEBHOOK_SETTINGS,
} satisfies ConfigSchema

export interface ApiConfig {
  /** The domain of sandbox URLs in answers. */
  readonly domain: string
  readonly adminToken: Secret | undefined
  readonly limits: SandboxLimits
  readonly storage: StorageLimits
  readonly admission: AdmissionConfig
  /** Encrypts secrets and the signing secrets of webhooks; undefined: the operator has given no key. */
  readonly keyRing: KeyRing | undefined
  /** The share of the memory of the engine's machine that paused sandboxes may keep. */
  readonly pausedMemoryShare: number
  /** How long requests in flight may run after the server begins to stop. */
  readonly drainMs: number
  /** Sandboxes that have series of their own in the metrics. */
  readonly maxSandboxSeries: number
  /** New names of sandboxes in an hour that may get certificates. */
  readonly tlsNamesPerHour: number
  /** Whether a team may give a template a name without a namespace, which is visible to every team. */
  readonly teamPublicNames: boolean
  /** Whether users may make access tokens. */
  readonly issuesAccessTokens: boolean
  /** The OpenID provider whose tokens are accepted. */
  readonly oidc: OidcConfig | undefined
  readonly http: HttpConfig
  readonly builds: BuildConfig
  readonly retention: RetentionConfig
  readonly pool: PoolConfig
  /** How sandboxes and builds reach the network outside. */
  readonly outbound: Outbound
  readonly tracing: TracingConfig
  readonly webhooks: WebhookConfig
  readonly dashboard: DashboardConfig
  /** The new engine of the installation, when this start moves it. */
  readonly adoptEngine: string | undefined
}

/** More would make a page of many megabytes. */
const MAX_SERIES = 10_000
/** Each is kept for an hour. */
const MAX_TLS_NAMES = 100_000
const DAY_MS = 24 * 3_600_000
const LEAST_MAX_SANDBOXES = 20
/** An idle sandbox uses far less memory than its limit, so a host can run more sandboxes than the sum of their limits. */
const HOST_MIB_PER_SANDBOX = 128

/** @throws ConfigError that lists every problem */
export function parseApiConfig(environment: Environment): ApiConfig {
  const settings = parseConfig(API_SETTINGS, environment)
  const { maxSandboxes, maxSandboxLifetime, maxSandboxSeries, tlsNamesPerHour } = settings
  const problems: string[] = []
  if (maxSandboxes !== undefined && maxSandboxes < 1) problems.push('SANDYARD_MAX_SANDBOXES must be at least 1')
  if (maxSandboxLifetime < 1000 || maxSandboxLifetime > DAY_MS) problems.push('SANDYARD_MAX_SANDBOX_LIFETIME must be between 1s and 24h')
  if (maxSandboxSeries < 0 || maxSandboxSeries > MAX_SERIES) {
    problems.push(`SANDYARD_METRICS_MAX_SANDBOXES must be between 0 and ${MAX_SERIES}`)
  }
  if (tlsNamesPerHour < 0 || tlsNamesPerHour > MAX_TLS_NAMES) {
    problems.push(`SANDYARD_TLS_NAMES_PER_HOUR must be between 0 and ${MAX_TLS_NAMES}`)
  }
  const http = checkHttpSettings(settings, problems)
  const oidc = checkOidcSettings(settings, problems)
  const builds = checkBuildSettings(settings, problems)
  const retention = checkRetention(settings, problems)
  const tracing = checkTracing(settings, problems)
  const pool = checkPoolSettings(settings, problems)
  const webhooks = checkWebhookSettings(settings, problems)
  const dashboard = checkDashboardSettings(settings, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze({
    domain: settings.domain ?? `localhost:${settings.proxyPort}`,
    adminToken: settings.adminToken,
    limits: {
      concurrentSandboxes: maxSandboxes ?? Math.max(LEAST_MAX_SANDBOXES, Math.floor(totalmem() / 1024 ** 2 / HOST_MIB_PER_SANDBOX)),
      maxPausedSandboxes: settings.maxPausedSandboxes,
      maxSnapshots: settings.maxSnapshots,
      maxLifetimeSeconds: Math.floor(maxSandboxLifetime / 1000),
      createsPerMinute: settings.createsPerMinute,
      createBurst: settings.createBurst,
    },
    storage: { maxStoredBytes: settings.maxStored },
    admission: admissionOf(settings),
    keyRing: keyRingOf(settings),
    pausedMemoryShare: settings.pausedMemory,
    drainMs: settings.drain,
    maxSandboxSeries,
    tlsNamesPerHour,
    teamPublicNames: settings.teamPublicNames,
    issuesAccessTokens: settings.issuesAccessTokens,
    oidc,
    http,
    builds,
    retention,
    pool,
    outbound: outboundOf(settings),
    tracing,
    webhooks,
    dashboard,
    adoptEngine: settings.adoptEngine,
  })
}
