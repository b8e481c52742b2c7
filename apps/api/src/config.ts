import { totalmem } from 'node:os'
import { ConfigError, env, parseConfig, type ConfigSchema, type Environment } from '@sandyard/kit/config/parse-config'
import type { Secret } from '@sandyard/kit/config/secret'
import { parseRateLimit, type RateLimits } from './http/rate-limit.ts'
import type { SandboxLimits } from './sandboxes/create-sandbox.ts'
import { BUILD_SETTINGS, checkBuildSettings, type BuildConfig } from './builds/build-config.ts'

/** Every setting of the control plane. Where it listens and what it stands on is the affair of the program that it is part of. */
export const API_SETTINGS = {
  ...BUILD_SETTINGS,
  proxyPort: env.port('SANDYARD_PROXY_PORT', { default: 3002, doc: 'port of the sandbox proxy' }),
  domain: env.text('SANDYARD_DOMAIN', {
    default: undefined,
    doc: 'domain of sandbox URLs, with its port where there is one; localhost:<proxy port> when absent',
  }),
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
} satisfies ConfigSchema

export interface ApiConfig {
  /** Where sandboxes are reached, as clients are told. */
  readonly domain: string
  readonly adminToken: Secret | undefined
  readonly limits: SandboxLimits
  readonly rateLimits: RateLimits
  readonly builds: BuildConfig
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
  const builds = checkBuildSettings(settings, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze({
    domain: settings.domain ?? `localhost:${settings.proxyPort}`,
    adminToken: settings.adminToken,
    limits: {
      concurrentSandboxes: maxSandboxes ?? Math.max(LEAST_MAX_SANDBOXES, Math.floor(totalmem() / 1024 ** 2 / HOST_MIB_PER_SANDBOX)),
      maxLifetimeSeconds: Math.floor(maxSandboxLifetime / 1000),
    },
    rateLimits: new Map(rateLimits.filter((limit) => typeof limit !== 'string')),
    builds,
  })
}
