import type { AddressInfo } from 'node:net'
import type { Database } from '@sandyard/db/database'
import { DockerRuntime } from '@sandyard/runtime-docker/docker-runtime'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { optionsOf } from '@sandyard/runtime-docker/runtime-settings'
import type { SandboxImages } from './images.ts'
import { createApp } from '../app.ts'
import { parseApiConfig } from '../config.ts'
import { createContext, type AppContext } from '../context.ts'
import { readWantedEgress } from '../sandboxes/network/read-wanted-egress.ts'
import { prepareDashboard } from './dashboard-dist.ts'
import { apiListening, explainListenFailure } from './listening.ts'
import type { ProgramParts } from './program-parts.ts'
import { openOrphans } from './open-orphans.ts'
import { tidyEngine } from './tidy-engine.ts'

type ApiInstance = Awaited<ReturnType<typeof createApp>>

export interface ApiNeeds {
  readonly database: Database
  readonly images: SandboxImages
  /** The port of the proxy, for the domain that clients get. */
  readonly proxyPort?: number
  /** The ports of the egress gateway; undefined when there is none. */
  readonly egressGateway: { readonly tcpPort: number; readonly dnsPort: number } | undefined
}

export interface OpenApi {
  readonly context: AppContext
  readonly app: ApiInstance
}

/** Time of the drain's shutdown phase in addition to the drain itself. */
const DRAIN_MARGIN_MS = 5000
/** Time for answers that are already written to reach their clients. */
const LAST_ANSWERS_MS = 1000

/**
 * Opens the control plane; it does not listen yet. Its shutdown has this order: it reports that it is not ready and finishes the
 * requests in flight, the loops stop, the sockets close.
 */
export async function openApi(parts: ProgramParts, { database, images, proxyPort, egressGateway }: ApiNeeds): Promise<OpenApi> {
  const { config, directory, environment, log, shutdown, progress } = parts
  // The domain that clients get contains the actual port of the proxy.
  const apiConfig = parseApiConfig({
    SANDYARD_UPLOADS_DIR: directory.uploads,
    ...environment,
    ...(proxyPort === undefined ? {} : { SANDYARD_PROXY_PORT: String(proxyPort) }),
  })
  const building = prepareDashboard(parts, apiConfig.dashboard)
  const context = await createContext(apiConfig, {
    database,
    log,
    host: {
      environment: { ...environment, SANDYARD_DATA_DIR: directory.path },
      openOrphans: async (signal) => openOrphans({ db: database.db, docker: await connectEngine(config.dockerHost), signal }),
    },
    runtime: ({ installation: { id }, onRefused }) => {
      // Before the network exists, because a start may be refused afterwards: the database may belong to another engine.
      // As a member this server is on the network itself.
      if (config.networkMembers === undefined) shutdown.add('sandbox network', () => tidyEngine(config.dockerHost, id))
      return DockerRuntime.open({
        ...optionsOf(config),
        installation: id,
        daemonDist: images.daemonDist,
        baseImage: images.base,
        wantedEgress: (sandboxIds) => readWantedEgress(database.db, sandboxIds),
        ...(egressGateway === undefined ? {} : { egressGateway }),
        onRefused,
        log,
        progress,
      })
    },
  })
  await building
  const app = await createApp(context)
  shutdown.add('api sockets', () => closeSockets(app))
  shutdown.add('api loops', () => context[Symbol.asyncDispose]())
  const { drainMs } = apiConfig
  shutdown.add('drain', () => drain(parts, context, drainMs), { timeoutMs: drainMs + DRAIN_MARGIN_MS })
  return { context, app }
}

async function drain({ log, progress }: ProgramParts, { drain }: AppContext, timeoutMs: number): Promise<void> {
  drain.begin()
  if (drain.inFlight > 0) progress.step(`finishing ${drain.inFlight} requests, for ${Math.ceil(timeoutMs / 1000)} s at most ...`)
  if (!(await drain.run(timeoutMs))) log.warn({ inFlight: drain.inFlight, timeoutMs }, 'requests were not finished in time')
}

async function closeSockets(app: ApiInstance): Promise<void> {
  const closed = app.close()
  const late = setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_MS)
  await closed
  clearTimeout(late)
}

export interface StartedApi {
  readonly port: number
  /** Asks the server itself whether a key is valid, without the network. */
  acceptsKey(apiKey: string): Promise<boolean>
}

/** Starts the loops and listens. */
export async function startApi({ config }: ProgramParts, { context, app }: OpenApi): Promise<StartedApi> {
  await context.start()
  try {
    await app.listen({ host: config.bind, port: config.apiPort })
  } catch (err) {
    throw explainListenFailure(err, apiListening(config))
  }
  return {
    port: (app.server.address() as AddressInfo).port,
    async acceptsKey(apiKey) {
      const { statusCode } = await app.inject({ method: 'GET', url: '/v2/sandboxes?limit=1', headers: { 'x-api-key': apiKey } })
      return statusCode !== 401
    },
  }
}
