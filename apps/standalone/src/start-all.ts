import { writeFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import { startStopwatch } from '@sandyard/kit/async/timed-step'
import { outboundOf } from '@sandyard/kit/outbound/outbound'
import { parseEgressConfig } from '@sandyard/egress/config'
import { parseProxyConfig, PROXY_PROCESS_SETTINGS } from '@sandyard/proxy/config'
import { openApi, startApi } from '@sandyard/api/program/open-api'
import { issueLoginCode, loginLink } from '@sandyard/api/dashboard/login-code'
import { startDataPlane } from './children/start-data-plane.ts'
import type { StandaloneConfig } from './config.ts'
import { openDatabase, type OpenDatabase } from './database.ts'
import type { ProgramParts } from '@sandyard/api/program/program-parts'
import { ensureEngine, type AnsweringEngine } from './engine/ensure-engine.ts'
import { orInterrupted, type Interruption } from './interruption.ts'
import { confirmCredentials, seed } from '@sandyard/api/program/identity'
import { prepareImages, type SandboxImages } from '@sandyard/api/program/images'
import { startMetrics } from '@sandyard/api/program/metrics'
import { ensureSecretsKey } from '@sandyard/api/program/secrets-key'
import { checkPorts, localUrl } from '@sandyard/api/program/listening'
import { listenings } from './listenings.ts'
import { takePrecedence } from './process/take-precedence.ts'
import { readyText } from './terminal/ready-text.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface StartParts extends ProgramParts {
  readonly config: StandaloneConfig
  /** Receives the log of a child process; undefined when the log is on standard output. */
  readonly logChunk: ((chunk: Buffer) => void) | undefined
  readonly progress: Terminal
  readonly interruption: Interruption
}

export interface Started {
  /** Rejects when a required part of the server has ended by itself. */
  readonly failed: Promise<never>
}

const LOOPBACK = ['127.0.0.1', '::1', 'localhost']

/** Starts every part in the order of their dependencies. After a failure `shutdown` undoes what has started. */
export async function startAll(parts: StartParts): Promise<Started> {
  const { config, directory, progress, interruption, environment } = parts
  progress.say('Sandyard starts.')
  const tookAll = startStopwatch()
  await checkPorts(Object.values(listenings(config)))
  if (!LOOPBACK.includes(config.bind))
    progress.step(`SANDYARD_BIND=${config.bind}: others can reach the servers, and keys travel in plain HTTP`)
  const isInteractive = process.stdin.isTTY && process.stdout.isTTY
  const tookEngine = startStopwatch()
  const engine = await orInterrupted(
    interruption,
    ensureEngine({ environment, outbound: outboundOf(config), say: (line) => progress.step(line), isInteractive }),
  )
  progress.step(`engine: Docker ${engine.version}, ${tookEngine()}`)
  // Not before: an engine that was started here, and its sandboxes, would have the same priority.
  takePrecedence()

  const { database, failed, images } = await openFoundations(parts, engine)
  const tookServers = startStopwatch()
  const registry = new Registry()
  const keyed = await ensureSecretsKey({ environment, file: directory.secretsKey, database, log: parts.log })
  const { proxy, egress } = await startDataPlane({ ...parts, environment: keyed }, database, registry)
  const { tcpPort, dnsPort } = parseEgressConfig(environment)
  const opened = await orInterrupted(
    interruption,
    openApi({ ...parts, environment: keyed }, { database, images, proxyPort: proxy.port, egressGateway: { tcpPort, dnsPort } }),
  )
  const { context } = opened
  writeFileSync(directory.installationFile, `${context.installation.id}\n`, { mode: 0o600 })
  const identity = await seed(parts, database, images.base)
  const api = await startApi(parts, opened)
  const { apiInternalUrl } = PROXY_PROCESS_SETTINGS
  if (parseProxyConfig(environment).apiInternalUrl === undefined) proxy.tell({ [apiInternalUrl.env]: localUrl(config.bind, api.port) })
  const { apiKey, accessToken } = await confirmCredentials(parts, database, { identity, api })
  const metricsPort = await startMetrics(parts, [context.metrics.registry, registry], [proxy, egress])
  interruption.signal.throwIfAborted()
  progress.step(`servers: ${tookServers()}; ${tookAll()} in all`)

  const apiUrl = localUrl(config.bind, api.port)
  const { dashboard, builds } = context.config
  progress.say(
    readyText({
      apiUrl,
      dashboardLink: dashboard.isOn ? loginLink(builds.apiUrl ?? apiUrl, await issueLoginCode(database.db)) : undefined,
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
  const preparing = orInterrupted(parts.interruption, prepareImages(parts, engine.rootDirectory))
  preparing.catch(() => undefined)
  // The database is awaited first, also when the images fail meanwhile, because `shutdown` must contain it before it runs.
  const opened = await openDatabase(parts)
  return { ...opened, images: await preparing }
}
