import { join, resolve } from 'node:path'
import { API_SETTINGS, parseApiConfig } from '@sandyard/api/config'
import { PROGRAM_SETTINGS } from '@sandyard/api/program/config'
import { EGRESS_PROCESS_SETTINGS } from '@sandyard/egress/config'
import { env, parseConfig, type ConfigOf, type Environment } from '@sandyard/kit/config/parse-config'
import { PROXY_PROCESS_SETTINGS } from '@sandyard/proxy/config'

const { apiUrl: publicUrl, adminToken, uploadsDir, buildTimeout, proxyPort } = API_SETTINGS

/** What the checks compare with the machine. */
const SCHEMA = {
  ...PROGRAM_SETTINGS,
  proxyPort,
  databaseUrl: env.secret('DATABASE_URL', { default: undefined, doc: 'URL of the Postgres database; the embedded one when absent.' }),
  publicUrl,
  adminToken,
  uploadsDir,
  buildTimeout,
  proxyConnections: PROXY_PROCESS_SETTINGS.databaseConnections,
  egressHealthPort: EGRESS_PROCESS_SETTINGS.healthPort,
  egressConnections: EGRESS_PROCESS_SETTINGS.databaseConnections,
  backupDir: env.text('SANDYARD_BACKUP_DIR', { default: undefined, doc: 'Folder of the backups, whose age `sandyard doctor` checks.' }),
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
