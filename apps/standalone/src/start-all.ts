import { writeFileSync } from 'node:fs'
import type { Environment } from '@sandyard/kit/config/parse-config'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { openApi, startApi } from './api.ts'
import type { StandaloneConfig } from './config.ts'
import { openDatabase } from './database.ts'
import type { DataDirectory } from './data/data-directory.ts'
import { ensureEngine } from './engine/ensure-engine.ts'
import { orInterrupted, type Interruption } from './interruption.ts'
import { confirmCredentials, seed } from './identity.ts'
import { prepareImages } from './images.ts'
import { startMetrics } from './metrics.ts'
import { checkPorts, listenings, localUrl } from './network/listening.ts'
import { startProxy } from './proxy.ts'
import { readyText } from './terminal/ready-text.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface StartParts {
  readonly config: StandaloneConfig
  readonly directory: DataDirectory
  readonly log: Logger
  readonly terminal: Terminal
  readonly interruption: Interruption
  /** Takes what has to be undone, as it is done. */
  readonly shutdown: Shutdown
  readonly environment: Environment
}

export interface Started {
  /** Rejects when a part that the server cannot do without has ended by itself. */
  readonly failed: Promise<never>
}

const LOOPBACK = ['127.0.0.1', '::1', 'localhost']

/** Starts every part in the order of their needs. Whatever fails, `shutdown` undoes what had started. */
export async function startAll(parts: StartParts): Promise<Started> {
  const { config, directory, terminal, interruption, environment } = parts
  terminal.say('Sandyard starts.')
  await checkPorts(Object.values(listenings(config)))
  if (!LOOPBACK.includes(config.bind))
    terminal.step(`SANDYARD_BIND=${config.bind}: others can reach the servers, and keys travel in plain HTTP`)
  const isInteractive = process.stdin.isTTY && process.stdout.isTTY
  const engine = await orInterrupted(interruption, ensureEngine({ environment, say: (line) => terminal.step(line), isInteractive }))
  terminal.step(`engine: Docker ${engine.version}`)

  const { database, failed } = await openDatabase(parts)
  const images = await orInterrupted(interruption, prepareImages(parts, engine))
  const proxy = await startProxy(parts, database)
  const context = await orInterrupted(interruption, openApi(parts, { database, images, proxy }))
  writeFileSync(directory.installationFile, `${context.installation.id}\n`, { mode: 0o600 })
  const identity = await seed(parts, database, images.base)
  const api = await startApi(parts, context)
  const { apiKey, accessToken } = await confirmCredentials(parts, database, { identity, api })
  const metricsPort = await startMetrics(parts, [context.metrics.registry, proxy.registry])
  interruption.signal.throwIfAborted()

  terminal.say(
    readyText({
      apiUrl: localUrl(config.bind, api.port),
      proxyUrl: localUrl(config.bind, proxy.port),
      metricsUrl: localUrl(config.bind, metricsPort),
      domain: context.config.domain,
      team: identity.team,
      user: identity.user,
      apiKey: apiKey.reveal(),
      accessToken: accessToken.reveal(),
      credentialsFile: directory.credentialsFile,
      logFile: config.log === 'file' ? directory.serverLog : undefined,
    }),
  )
  return { failed }
}
