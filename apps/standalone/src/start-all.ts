import { writeFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import { startStopwatch } from '@sandyard/kit/async/timed-step'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { parseProxyConfig, PROXY_PROCESS_SETTINGS } from '@sandyard/proxy/config'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { openApi, startApi } from './api.ts'
import { startDataPlane } from './children/start-data-plane.ts'
import type { StandaloneConfig } from './config.ts'
import { openDatabase, type OpenDatabase } from './database.ts'
import type { DataDirectory } from './data/data-directory.ts'
import { ensureEngine, type AnsweringEngine } from './engine/ensure-engine.ts'
import { orInterrupted, type Interruption } from './interruption.ts'
import { confirmCredentials, seed } from './identity.ts'
import { prepareImages, type SandboxImages } from './images.ts'
import { startMetrics } from './metrics.ts'
import { checkPorts, listenings, localUrl } from './network/listening.ts'
import { readyText } from './terminal/ready-text.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface StartParts {
  readonly config: StandaloneConfig
  readonly directory: DataDirectory
  readonly log: Logger
  /** Receives the log of a child process; undefined when the log is on standard output. */
  readonly logChunk: ((chunk: Buffer) => void) | undefined
  readonly terminal: Terminal
  readonly interruption: Interruption
  /** Receives the undo of each step, as soon as the step is done. */
  readonly shutdown: Shutdown
  readonly environment: Environment
}

export interface Started {
  /** Rejects when a required part of the server has ended by itself. */
  readonly failed: Promise<never>
}

const LOOPBACK = ['127.0.0.1', '::1', 'localhost']

/** Starts every part in the order of their dependencies. After a failure `shutdown` undoes what has started. */
export async function startAll(parts: StartParts): Promise<Started> {
  const { config, directory, terminal, interruption, environment } = parts
  terminal.say('Sandyard starts.')
  const tookAll = startStopwatch()
  await checkPorts(Object.values(listenings(config)))
  if (!LOOPBACK.includes(config.bind))
    terminal.step(`SANDYARD_BIND=${config.bind}: others can reach the servers, and keys travel in plain HTTP`)
  const isInteractive = process.stdin.isTTY && process.stdout.isTTY
  const tookEngine = startStopwatch()
  const engine = await orInterrupted(interruption, ensureEngine({ environment, say: (line) => terminal.step(line), isInteractive }))
  terminal.step(`engine: Docker ${engine.version}, ${tookEngine()}`)

  const { database, failed, images } = await openFoundations(parts, engine)
  const tookServers = startStopwatch()
  const registry = new Registry()
  const { proxy, egress } = await startDataPlane(parts, database.url, registry)
  const opened = await orInterrupted(interruption, openApi(parts, { database, images, proxyPort: proxy.port }))
  const { context } = opened
  writeFileSync(directory.installationFile, `${context.installation.id}\n`, { mode: 0o600 })
  const identity = await seed(parts, database, images.base)
  const api = await startApi(parts, opened)
  const { apiInternalUrl } = PROXY_PROCESS_SETTINGS
  if (parseProxyConfig(environment).apiInternalUrl === undefined) proxy.tell({ [apiInternalUrl.env]: localUrl(config.bind, api.port) })
  const { apiKey, accessToken } = await confirmCredentials(parts, database, { identity, api })
  const metricsPort = await startMetrics(parts, [context.metrics.registry, registry], [proxy, egress])
  interruption.signal.throwIfAborted()
  terminal.step(`servers: ${tookServers()}; ${tookAll()} in all`)

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

/** Opens the database and prepares the images at the same time. */
async function openFoundations(parts: StartParts, engine: AnsweringEngine): Promise<OpenDatabase & { readonly images: SandboxImages }> {
  const preparing = orInterrupted(parts.interruption, prepareImages(parts, engine))
  preparing.catch(() => undefined)
  // The database is awaited first, also when the images fail meanwhile, because `shutdown` must contain it before it runs.
  const opened = await openDatabase(parts)
  return { ...opened, images: await preparing }
}
