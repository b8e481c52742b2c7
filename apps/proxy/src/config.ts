import { env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'

/** Every setting of the proxy; `main.ts` and the standalone server read nothing else for it. */
export const proxySettings = {
  bind: env.text('SANDYARD_BIND', { default: '127.0.0.1', doc: 'address to listen on' }),
  port: env.port('SANDYARD_PROXY_PORT', { default: 3002, doc: 'port of sandbox traffic (E2B_SANDBOX_URL); 0 is any free one' }),
  headerHosts: env.list('SANDYARD_PROXY_HEADER_HOSTS', {
    default: [],
    doc: 'more host names, such as a service name in Compose, on which E2b-Sandbox-Id and E2b-Sandbox-Port are honoured',
  }),
  drainMs: env.duration('SANDYARD_PROXY_DRAIN', { default: 2000, doc: 'how long open requests may go on when the proxy stops' }),
  logLevel: env.text('SANDYARD_LOG_LEVEL', { default: 'info', doc: 'fatal, error, warn, info, debug or trace' }),
} as const

export type ProxyConfig = ConfigOf<typeof proxySettings>

/** @throws ConfigError that lists every problem */
export function parseProxyConfig(environment: Environment): ProxyConfig {
  return parseConfig(proxySettings, environment)
}
