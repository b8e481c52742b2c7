import { env, type ConfigOf, type ConfigSchema } from '@sandyard/kit/config/parse-config'
import { isAddressOrNetwork } from '@sandyard/kit/net/addresses'
import type { RequestCapsLimits } from './caps/request-caps-plugin.ts'
import { parseLimit, parseRateLimit, type RateLimits } from './rate-limit.ts'
import type { BucketLimit } from './token-bucket.ts'

/** The settings of the control plane's HTTP server. */
export const HTTP_SETTINGS = {
  rateLimits: env.list('SANDYARD_RATE_LIMITS', {
    default: [],
    doc: 'Requests of a team, or of a client address where no team is known, by operation: <operation>=<rate>/<period in seconds>:<burst>, comma-separated; none when absent.',
  }),
  failedAuthLimit: env.text('SANDYARD_FAILED_AUTH_LIMIT', {
    default: '20/1:1000',
    doc: 'Refused credentials of a client address: <rate>/<period in seconds>:<burst>.',
  }),
  trustedProxies: env.list('SANDYARD_TRUSTED_PROXIES', {
    default: [],
    doc: 'Addresses and networks of reverse proxies whose X-Forwarded-For, -Host and -Proto headers are believed. None by default.',
  }),
  allowedHosts: env.list('SANDYARD_ALLOWED_HOSTS', {
    default: [],
    doc: 'Further names by which clients address the control plane; *.example.com means all below it. Addresses, localhost, names without a dot, SANDYARD_DOMAIN with all below it and the host of SANDYARD_API_URL are always allowed.',
  }),
  maxEventLoopDelay: env.duration('SANDYARD_MAX_EVENT_LOOP_DELAY', {
    default: 3000,
    doc: 'Above this mean delay of the event loop the control plane answers 503.',
  }),
  maxConnections: env.count('SANDYARD_API_MAX_CONNECTIONS', { default: 10_000, doc: 'open connections to the control plane' }),
  maxClientConnections: env.count('SANDYARD_API_MAX_CLIENT_CONNECTIONS', {
    default: 5000,
    doc: 'open connections of one client address to the control plane; a network of 64 bits counts as one for IPv6',
  }),
  maxRequests: env.count('SANDYARD_API_MAX_REQUESTS', { default: 10_000, doc: 'requests in flight in the control plane' }),
  maxClientRequests: env.count('SANDYARD_API_MAX_CLIENT_REQUESTS', { default: 5000, doc: 'the same for one client address' }),
  maxTeamRequests: env.count('SANDYARD_API_MAX_TEAM_REQUESTS', { default: 2000, doc: 'the same for one team' }),
} satisfies ConfigSchema

export interface HttpConfig {
  readonly rateLimits: RateLimits
  readonly failedAuthLimit: BucketLimit
  readonly trustedProxies: readonly string[]
  readonly allowedHosts: readonly string[]
  readonly maxEventLoopDelayMs: number
  readonly caps: RequestCapsLimits
}

/** Checks the settings. Adds a message for each wrong one to `problems`. */
export function checkHttpSettings(settings: ConfigOf<typeof HTTP_SETTINGS>, problems: string[]): HttpConfig {
  const { trustedProxies, allowedHosts, maxEventLoopDelay, maxConnections, maxClientConnections } = settings
  const { maxRequests, maxClientRequests, maxTeamRequests } = settings
  const rateLimits = settings.rateLimits.map(parseRateLimit)
  problems.push(...rateLimits.filter((limit) => typeof limit === 'string'))
  const failedAuthLimit = parseLimit(settings.failedAuthLimit)
  if (failedAuthLimit === undefined) problems.push('SANDYARD_FAILED_AUTH_LIMIT must be <rate>/<period in seconds>:<burst>')
  const wrong = trustedProxies.filter((proxy) => !isAddressOrNetwork(proxy))
  problems.push(...wrong.map((proxy) => `SANDYARD_TRUSTED_PROXIES has "${proxy}", which is not an address or a network`))
  if (maxEventLoopDelay < 1) problems.push('SANDYARD_MAX_EVENT_LOOP_DELAY must be at least 1ms')
  return {
    rateLimits: new Map(rateLimits.filter((limit) => typeof limit !== 'string')),
    failedAuthLimit: failedAuthLimit ?? { rate: 1, periodSeconds: 1, burst: 1 },
    trustedProxies,
    allowedHosts,
    maxEventLoopDelayMs: maxEventLoopDelay,
    caps: { maxConnections, maxClientConnections, maxRequests, maxClientRequests, maxTeamRequests },
  }
}
