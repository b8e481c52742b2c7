import { ConfigError, env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'
import { dockerRuntimeSettings } from '@sandyard/runtime-docker/runtime-settings'

const MIB = 1024 ** 2
const GIB = 1024 ** 3

/** The settings of `npm start` itself. The api and the proxy read their own settings from the same environment. */
export const STANDALONE_SETTINGS = {
  dataDir: env.text('SANDYARD_DATA_DIR', { default: './.sandyard', doc: 'Folder of the database, the credentials and the logs.' }),
  bind: env.text('SANDYARD_BIND', { default: '127.0.0.1', doc: 'The address that the servers listen on.' }),
  apiPort: env.port('SANDYARD_API_PORT', { default: 3000, doc: 'Port of the control plane; 0 takes a free one.' }),
  metricsPort: env.port('SANDYARD_METRICS_PORT', { default: 3001, doc: 'Port of the metrics; 0 takes a free one.' }),
  proxyPort: env.port('SANDYARD_PROXY_PORT', { default: 3002, doc: 'Port of the sandbox proxy; 0 takes a free one.' }),
  databaseUrl: env.secret('DATABASE_URL', { default: undefined, doc: 'A Postgres to use instead of the embedded one.' }),
  maxConnections: env.integer('SANDYARD_API_DB_CONNECTIONS', { default: 20, doc: 'Database connections of the control plane.' }),
  apiHeap: env.size('SANDYARD_API_HEAP', {
    default: 1024 * MIB,
    doc: 'Largest JavaScript heap of the control plane; the process ends when it needs more.',
  }),
  proxyHeap: env.size('SANDYARD_PROXY_HEAP', {
    default: 512 * MIB,
    doc: 'Largest JavaScript heap of the proxy process, which is started again when it ends.',
  }),
  egressHealthPort: env.port('SANDYARD_EGRESS_HEALTH_PORT', {
    default: 3003,
    doc: 'Port of the health check and the metrics of the egress gateway; 0 takes a free one.',
  }),
  egressHeap: env.size('SANDYARD_EGRESS_HEAP', {
    default: 512 * MIB,
    doc: 'Largest JavaScript heap of the process of the egress gateway, which is started again when it ends.',
  }),
  postgresPort: env.port('SANDYARD_POSTGRES_PORT', { default: 0, doc: 'Loopback port of the embedded Postgres; 0 takes a free one.' }),
  log: env.text('SANDYARD_LOG', {
    default: 'file',
    doc: 'Where the JSON log goes: `file` (server.log in the data directory) or `stdout`.',
  }),
  logLevel: env.text('SANDYARD_LOG_LEVEL', {
    default: 'info',
    doc: 'The lowest level that is logged: trace, debug, info, warn, error, fatal.',
  }),
  engine: env.text('SANDYARD_ENGINE', {
    default: 'auto',
    doc: 'Whether a Docker engine may be installed and started when none answers: `auto` (yes) or `external` (never).',
  }),
  debianMirror: env.text('SANDYARD_DEBIAN_MIRROR', {
    default: undefined,
    doc: "Debian's package mirror, where an image has to be made without a registry.",
  }),
  baseCpuCount: env.integer('SANDYARD_BASE_CPU_COUNT', { default: 2, doc: 'Processors of a sandbox of the `base` template.' }),
  baseMemory: env.size('SANDYARD_BASE_MEMORY', { default: GIB, doc: 'Memory of a sandbox of the `base` template.' }),
  baseDisk: env.size('SANDYARD_BASE_DISK', { default: 10 * GIB, doc: 'Disk of a sandbox of the `base` template.' }),
  ...dockerRuntimeSettings,
} as const

export type StandaloneConfig = ConfigOf<typeof STANDALONE_SETTINGS>

const CHOICES = {
  log: ['file', 'stdout'],
  engine: ['auto', 'external'],
  logLevel: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
} as const

const LEAST_HEAP = 128 * MIB

/** @throws ConfigError that lists every problem */
export function readStandaloneConfig(environment: Environment): StandaloneConfig {
  const config = parseConfig(STANDALONE_SETTINGS, environment)
  const problems = Object.entries(CHOICES).flatMap(([key, choices]) => {
    const name = key as keyof typeof CHOICES
    const isChoice = (choices as readonly string[]).includes(config[name])
    return isChoice ? [] : [`${STANDALONE_SETTINGS[name].env} is one of ${choices.join(', ')}, not "${config[name]}"`]
  })
  if (config.baseCpuCount < 1) problems.push('SANDYARD_BASE_CPU_COUNT must be at least 1')
  if (config.baseMemory < 128 * MIB) problems.push('SANDYARD_BASE_MEMORY must be at least 128MiB')
  if (config.baseDisk < 512 * MIB) problems.push('SANDYARD_BASE_DISK must be at least 512MiB')
  if (config.maxConnections < 5) problems.push('SANDYARD_API_DB_CONNECTIONS must be at least 5')
  if (config.apiHeap < LEAST_HEAP) problems.push('SANDYARD_API_HEAP must be at least 128MiB')
  if (config.proxyHeap < LEAST_HEAP) problems.push('SANDYARD_PROXY_HEAP must be at least 128MiB')
  if (config.egressHeap < LEAST_HEAP) problems.push('SANDYARD_EGRESS_HEAP must be at least 128MiB')
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}
