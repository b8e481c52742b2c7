import { PROGRAM_SETTINGS } from '@sandyard/api/program/config'
import { env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'
import { STANDALONE_SETTINGS } from '@sandyard/standalone/config'

const { bind, apiPort, metricsPort, dockerHost } = PROGRAM_SETTINGS
const { proxyPort, databaseUrl } = STANDALONE_SETTINGS

/** The settings of the command line: those of clients, and those of the servers that say where they listen and where their data is. */
export const CLI_SETTINGS = {
  apiKey: env.secret('E2B_API_KEY', { default: undefined, doc: 'API key; that of the data directory when absent' }),
  apiUrl: env.text('E2B_API_URL', { default: undefined, doc: 'URL of the control plane; the local one when absent' }),
  sandboxUrl: env.text('E2B_SANDBOX_URL', { default: undefined, doc: 'URL of the sandbox proxy; the local one when absent' }),
  publicApiUrl: env.text('SANDYARD_API_URL', { default: undefined, doc: 'URL by which clients reach the control plane' }),
  adminToken: env.secret('SANDYARD_ADMIN_TOKEN', { default: undefined, doc: 'token of administrators' }),
  dataDir: env.text('SANDYARD_DATA_DIR', { default: undefined, doc: 'data directory of the server' }),
  bind,
  apiPort,
  proxyPort,
  metricsPort,
  databaseUrl,
  dockerHost,
}

export type CliConfig = ConfigOf<typeof CLI_SETTINGS>

/** @throws ConfigError that lists every problem */
export function readCliConfig(environment: Environment): CliConfig {
  return parseConfig(CLI_SETTINGS, environment)
}
