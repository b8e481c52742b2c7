import { ConfigError, env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'
import { DIRECT_URL_SETTING, MIGRATION_SETTINGS } from '@sandyard/db/database-settings'
import { dockerRuntimeSettings } from '@sandyard/runtime-docker/runtime-settings'

const MIB = 1024 ** 2
const GIB = 1024 ** 3

/** The settings of a server beside those of the control plane itself: its listeners, database, engine and files. `npm start` has them too. */
export const PROGRAM_SETTINGS = {
  dataDir: env.text('SANDYARD_DATA_DIR', { default: './.sandyard', doc: 'Folder of the database, the credentials and the logs.' }),
  bind: env.text('SANDYARD_BIND', { default: '127.0.0.1', doc: 'The address that the servers listen on.' }),
  apiPort: env.port('SANDYARD_API_PORT', { default: 3000, doc: 'Port of the control plane; 0 takes a free one.' }),
  metricsPort: env.port('SANDYARD_METRICS_PORT', { default: 3001, doc: 'Port of the metrics; 0 takes a free one.' }),
  ...DIRECT_URL_SETTING,
  ...MIGRATION_SETTINGS,
  maxConnections: env.integer('SANDYARD_API_DB_CONNECTIONS', { default: 20, doc: 'Database connections of the control plane.' }),
  logLevel: env.text('SANDYARD_LOG_LEVEL', {
    default: 'info',
    doc: 'The lowest level that is logged: trace, debug, info, warn, error, fatal.',
  }),
  debianMirror: env.text('SANDYARD_DEBIAN_MIRROR', {
    default: undefined,
    doc: "Debian's package mirror, where an image has to be made without a registry.",
  }),
  daemonDist: env.text('SANDYARD_DAEMON_DIST', {
    default: undefined,
    doc: 'Folder with the built distribution of the daemon of sandboxes, as in our images; it is built from the sources when absent.',
  }),
  baseCpuCount: env.integer('SANDYARD_BASE_CPU_COUNT', { default: 2, doc: 'Processors of a sandbox of the `base` template.' }),
  baseMemory: env.size('SANDYARD_BASE_MEMORY', { default: GIB, doc: 'Memory of a sandbox of the `base` template.' }),
  baseDisk: env.size('SANDYARD_BASE_DISK', { default: 10 * GIB, doc: 'Disk of a sandbox of the `base` template.' }),
  ...dockerRuntimeSettings,
} as const

export type ProgramConfig = ConfigOf<typeof PROGRAM_SETTINGS>

/** The settings of the control plane as a program of its own, without those of PROGRAM_SETTINGS. */
export const SEPARATE_SETTINGS = {
  databaseUrl: env.secret('DATABASE_URL', { doc: 'URL of the Postgres database.' }),
  hasGateway: env.boolean('SANDYARD_EGRESS_GATEWAY', {
    default: true,
    doc: 'Whether an egress gateway runs on the host of the engine; without one no policy can have domains, rules or a proxy.',
  }),
} as const

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** Problems of values that have the right type. */
export function checkProgramConfig(config: ProgramConfig): string[] {
  const problems: string[] = []
  if (!LOG_LEVELS.includes(config.logLevel))
    problems.push(`SANDYARD_LOG_LEVEL is one of ${LOG_LEVELS.join(', ')}, not "${config.logLevel}"`)
  if (config.baseCpuCount < 1) problems.push('SANDYARD_BASE_CPU_COUNT must be at least 1')
  if (config.baseMemory < 128 * MIB) problems.push('SANDYARD_BASE_MEMORY must be at least 128MiB')
  if (config.baseDisk < 512 * MIB) problems.push('SANDYARD_BASE_DISK must be at least 512MiB')
  if (config.migrationLockTimeoutMs < 1) problems.push('SANDYARD_MIGRATION_LOCK_TIMEOUT must be more than 0')
  if (config.migrationStatementTimeoutMs < 1000) problems.push('SANDYARD_MIGRATION_STATEMENT_TIMEOUT must be at least 1s')
  if (config.migrationTimeoutMs < 1000) problems.push('SANDYARD_MIGRATION_TIMEOUT must be at least 1s')
  if (config.maxConnections < 5) problems.push('SANDYARD_API_DB_CONNECTIONS must be at least 5')
  return problems
}

export type SeparateConfig = ProgramConfig & ConfigOf<typeof SEPARATE_SETTINGS>

/** @throws ConfigError that lists every problem */
export function parseSeparateConfig(environment: Environment): SeparateConfig {
  const config = parseConfig({ ...PROGRAM_SETTINGS, ...SEPARATE_SETTINGS }, environment)
  const problems = checkProgramConfig(config)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}
