import { API_SETTINGS } from '@sandyard/api/config'
import { PROGRAM_SETTINGS } from '@sandyard/api/program/config'
import { DIRECT_URL_SETTING } from '@sandyard/db/database-settings'
import { env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'

const { bind, apiPort, metricsPort, dockerHost } = PROGRAM_SETTINGS
const { proxyPort, domain, adminToken, apiUrl: publicApiUrl, uploadsDir } = API_SETTINGS

/** The settings of the command line: those of clients, and those of the servers that say where they listen and where their data is. */
export const CLI_SETTINGS = {
  apiKey: env.secret('E2B_API_KEY', { default: undefined, doc: 'API key; that of the data directory when absent' }),
  apiUrl: env.text('E2B_API_URL', { default: undefined, doc: 'URL of the control plane; the local one when absent' }),
  sandboxUrl: env.text('E2B_SANDBOX_URL', { default: undefined, doc: 'URL of the sandbox proxy; the local one when absent' }),
  proxyInternalUrl: env.text('SANDYARD_PROXY_INTERNAL_URL', {
    default: undefined,
    doc: 'URL at which this program reaches the sandbox proxy when clients use another one',
  }),
  dataDir: env.text('SANDYARD_DATA_DIR', { default: undefined, doc: 'data directory of the server' }),
  databaseUrl: env.secret('DATABASE_URL', { default: undefined, doc: 'database of the server; the embedded one when absent' }),
  ...DIRECT_URL_SETTING,
  publicApiUrl,
  uploadsDir,
  adminToken,
  bind,
  apiPort,
  proxyPort,
  metricsPort,
  domain,
  dockerHost,
}

export type CliConfig = ConfigOf<typeof CLI_SETTINGS>

/** @throws ConfigError that lists every problem */
export function readCliConfig(environment: Environment): CliConfig {
  return parseConfig(CLI_SETTINGS, environment)
}
