import { join, resolve } from 'node:path'
import { API_SETTINGS, parseApiConfig } from '@sandyard/api/config'
import { PROGRAM_SETTINGS } from '@sandyard/api/program/config'
import { env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'
import { CLI_SETTINGS } from '../../config.ts'

const { proxyPort, apiUrl: publicUrl, adminToken, uploadsDir, buildTimeout } = API_SETTINGS

/** Settings of the proxy and of the egress gateway, declared again because this program does not contain them. A test keeps both in step. */
export const OTHER_PROGRAMS = {
  egressHealthPort: env.port('SANDYARD_EGRESS_HEALTH_PORT', { default: 3003, doc: 'Port of the health check of the egress gateway.' }),
  proxyConnections: env.integer('SANDYARD_PROXY_DB_CONNECTIONS', { default: 5, doc: 'Database connections of the proxy.' }),
  egressConnections: env.integer('SANDYARD_EGRESS_DB_CONNECTIONS', { default: 3, doc: 'Database connections of the egress gateway.' }),
}

/** What the checks compare with the machine. */
const SCHEMA = {
  ...PROGRAM_SETTINGS,
  databaseUrl: CLI_SETTINGS.databaseUrl,
  proxyPort,
  publicUrl,
  adminToken,
  uploadsDir,
  buildTimeout,
  ...OTHER_PROGRAMS,
}

export interface DoctorSettings extends Omit<ConfigOf<typeof SCHEMA>, 'uploadsDir'> {
  readonly uploadsDir: string
  /** Of sandbox URLs, with a port if there is one. */
  readonly domain: string
  /** Whether the operator has chosen the domain. */
  readonly hasOwnDomain: boolean
  /** Sandboxes of a team at once. */
  readonly maxSandboxes: number
}

/** @throws ConfigError that lists every problem */
export function readDoctorSettings(environment: Environment, dataDir: string | undefined): DoctorSettings {
  const settings = parseConfig(SCHEMA, environment)
  const folder = resolve(dataDir ?? settings.dataDir)
  const uploads = settings.uploadsDir ?? join(folder, 'uploads')
  const api = parseApiConfig({ ...environment, SANDYARD_UPLOADS_DIR: uploads })
  return {
    ...settings,
    dataDir: folder,
    uploadsDir: uploads,
    domain: api.domain,
    hasOwnDomain: (environment['SANDYARD_DOMAIN'] ?? '') !== '',
    maxSandboxes: api.limits.concurrentSandboxes,
  }
}
