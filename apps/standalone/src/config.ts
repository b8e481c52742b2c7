import { env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'

/** What `npm start` itself reads. The api and the proxy read their own settings from the same environment. */
export const STANDALONE_SETTINGS = {
  dataDir: env.text('SANDYARD_DATA_DIR', { default: './.sandyard', doc: 'Where the database, the credentials and the logs are kept.' }),
  bind: env.text('SANDYARD_BIND', { default: '127.0.0.1', doc: 'The address that the servers listen on.' }),
  apiPort: env.port('SANDYARD_API_PORT', { default: 3000, doc: 'Port of the control plane; 0 takes a free one.' }),
  metricsPort: env.port('SANDYARD_METRICS_PORT', { default: 3001, doc: 'Port of the metrics; 0 takes a free one.' }),
  proxyPort: env.port('SANDYARD_PROXY_PORT', { default: 3002, doc: 'Port of the sandbox proxy; 0 takes a free one.' }),
  domain: env.text('SANDYARD_DOMAIN', {
    default: undefined,
    doc: 'The domain under which sandboxes are reached; `localhost:<proxy port>` by default.',
  }),
  databaseUrl: env.secret('DATABASE_URL', { default: undefined, doc: 'A Postgres to use instead of the embedded one.' }),
  postgresPort: env.port('SANDYARD_POSTGRES_PORT', { default: 0, doc: 'Loopback port of the embedded Postgres; 0 takes a free one.' }),
  log: env.text('SANDYARD_LOG', {
    default: 'file',
    doc: 'Where the JSON log goes: `file` (server.log in the data directory) or `stdout`.',
  }),
  logLevel: env.text('SANDYARD_LOG_LEVEL', {
    default: 'info',
    doc: 'The least level that is logged: trace, debug, info, warn, error, fatal.',
  }),
  debianMirror: env.text('SANDYARD_DEBIAN_MIRROR', {
    default: undefined,
    doc: "Debian's package mirror, where an image has to be made without a registry.",
  }),
} as const

export type StandaloneConfig = ConfigOf<typeof STANDALONE_SETTINGS>

/** @throws ConfigError that lists every problem */
export function readStandaloneConfig(environment: Environment): StandaloneConfig {
  return parseConfig(STANDALONE_SETTINGS, environment)
}
