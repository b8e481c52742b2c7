import { ConfigError, env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'
import { checkProgramConfig, PROGRAM_SETTINGS } from '@sandyard/api/program/config'

const MIB = 1024 ** 2

/** The settings of `npm start` itself. The api and the proxy read their own settings from the same environment. */
export const STANDALONE_SETTINGS = {
  ...PROGRAM_SETTINGS,
  proxyPort: env.port('SANDYARD_PROXY_PORT', { default: 3002, doc: 'Port of the sandbox proxy; 0 takes a free one.' }),
  databaseUrl: env.secret('DATABASE_URL', { default: undefined, doc: 'A Postgres to use instead of the embedded one.' }),
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
  engine: env.text('SANDYARD_ENGINE', {
    default: 'auto',
    doc: 'Whether a Docker engine may be installed and started when none answers: `auto` (yes) or `external` (never).',
  }),
} as const

export type StandaloneConfig = ConfigOf<typeof STANDALONE_SETTINGS>

const CHOICES = {
  log: ['file', 'stdout'],
  engine: ['auto', 'external'],
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
  problems.push(...checkProgramConfig(config))
  if (config.directUrl !== undefined && config.databaseUrl === undefined) problems.push('DATABASE_DIRECT_URL needs DATABASE_URL')
  if (config.apiHeap < LEAST_HEAP) problems.push('SANDYARD_API_HEAP must be at least 128MiB')
  if (config.proxyHeap < LEAST_HEAP) problems.push('SANDYARD_PROXY_HEAP must be at least 128MiB')
  if (config.egressHeap < LEAST_HEAP) problems.push('SANDYARD_EGRESS_HEAP must be at least 128MiB')
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}
