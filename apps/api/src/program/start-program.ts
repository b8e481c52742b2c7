import { writeFileSync } from 'node:fs'
import { Database } from '@sandyard/db/database'
import { databaseUrls } from '@sandyard/db/database-settings'
import { migrate } from '@sandyard/db/migrate'
import type { Environment } from '@sandyard/kit/config/parse-config'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { parseApiConfig } from '../config.ts'
import type { SeparateConfig } from './config.ts'
import { openDataDirectory } from './data/data-directory.ts'
import { readEgressGateway } from './egress-gateway.ts'
import { checkGivenDatabase } from './given-database.ts'
import { confirmCredentials, seed } from './identity.ts'
import { prepareImages } from './images.ts'
import { startMetrics } from './metrics.ts'
import { openApi, startApi } from './open-api.ts'
import type { ProgramParts } from './program-parts.ts'
import { ensureSecretsKey } from './secrets-key.ts'

export interface SeparateStart {
  readonly config: SeparateConfig
  readonly log: Logger
  /** Receives the undo of each step, as soon as the step is done. */
  readonly shutdown: Shutdown
  readonly environment: Environment
}

/**
 * Starts the control plane on a database and an engine that exist. The first server creates the schema, the images, the team and its credentials; several may start
 * at once. Keys are written into the data directory, never into the log.
 *
 * @throws StartFailure, AppError with a sentence for the operator
 */
export async function startProgram(start: SeparateStart): Promise<void> {
  const { config, log, shutdown, environment } = start
  // Wrong settings are reported before the long steps.
  parseApiConfig({ SANDYARD_UPLOADS_DIR: config.dataDir, ...environment })
  const egressGateway = readEgressGateway(environment)
  const directory = openDataDirectory(config.dataDir)
  const progress = {
    step: (line: string) => log.info({ step: line }, 'start'),
    detail: (line: string) => log.debug({ step: line }, 'start'),
  }
  const parts: ProgramParts = { config, directory, log, progress, shutdown, environment }
  const database = await openDatabase(start)
  const images = await prepareImages(parts, undefined)
  const keyed = await ensureSecretsKey({ environment, file: directory.secretsKey, database, log })
  const opened = await openApi({ ...parts, environment: keyed }, { database, images, egressGateway })
  const { context } = opened
  writeFileSync(directory.installationFile, `${context.installation.id}\n`, { mode: 0o600 })
  const identity = await seed(parts, database, images.base)
  const api = await startApi(parts, opened)
  await confirmCredentials(parts, database, { identity, api })
  const metricsPort = await startMetrics(parts, [context.metrics.registry])
  log.info({ host: config.bind, port: api.port, metricsPort, credentialsFile: directory.credentialsFile }, 'listening')
}

async function openDatabase({ config, log, shutdown }: SeparateStart): Promise<Database> {
  const urls = databaseUrls(config)
  await checkGivenDatabase(urls)
  const { landed } = await migrate({ url: urls.directUrl, log, bounds: config })
  if (landed.length > 0) log.info({ migrations: landed }, 'the schema was brought up to date')
  const database = new Database({ ...urls, applicationName: 'sandyard-api', log, maxConnections: config.maxConnections })
  shutdown.add('database', () => database[Symbol.asyncDispose]())
  return database
}
