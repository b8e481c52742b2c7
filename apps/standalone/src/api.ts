import type { AddressInfo } from 'node:net'
import { createApp } from '@sandyard/api/app'
import { parseApiConfig } from '@sandyard/api/config'
import { createContext, type AppContext } from '@sandyard/api/context'
import type { Database } from '@sandyard/db/database'
import { DockerRuntime } from '@sandyard/runtime-docker/docker-runtime'
import { optionsOf } from '@sandyard/runtime-docker/runtime-settings'
import type { SandboxImages } from './images.ts'
import { explainListenFailure, listenings } from './network/listening.ts'
import type { StartParts } from './start-all.ts'
import type { StartedProxy } from './proxy.ts'
import { tidyEngine } from './tidy-engine.ts'

export interface ApiNeeds {
  readonly database: Database
  readonly images: SandboxImages
  readonly proxy: StartedProxy
}

/** The control plane on its runtime; it does not listen yet. */
export async function openApi(parts: StartParts, { database, images, proxy }: ApiNeeds): Promise<AppContext> {
  const { config, directory, environment, log, shutdown, terminal } = parts
  // The port that the proxy really has is part of the domain that clients are told.
  const apiConfig = parseApiConfig({
    SANDYARD_UPLOADS_DIR: directory.uploads,
    ...environment,
    SANDYARD_PROXY_PORT: String(proxy.port),
  })
  const context = await createContext(apiConfig, {
    database,
    log,
    runtime: ({ id }) =>
      DockerRuntime.open({
        ...optionsOf(config),
        installation: id,
        daemonDist: images.daemonDist,
        baseImage: images.base,
        log,
        progress: terminal,
      }),
  })
  shutdown.add('sandbox network', () => tidyEngine(config.dockerHost, context.installation.id))
  shutdown.add('api parts', () => context[Symbol.asyncDispose]())
  return context
}

export interface StartedApi {
  readonly port: number
  /** Asks the server itself whether a key is valid, without the network. */
  acceptsKey(apiKey: string): Promise<boolean>
}

/** Starts the loops and listens. */
export async function startApi({ config, shutdown }: StartParts, context: AppContext): Promise<StartedApi> {
  await context.start()
  const app = await createApp(context)
  shutdown.add('api', () => {
    context.isDraining = true
    return app.close()
  })
  try {
    await app.listen({ host: config.bind, port: config.apiPort })
  } catch (err) {
    throw explainListenFailure(err, listenings(config).api)
  }
  return {
    port: (app.server.address() as AddressInfo).port,
    async acceptsKey(apiKey) {
      const { statusCode } = await app.inject({ method: 'GET', url: '/v2/sandboxes?limit=1', headers: { 'x-api-key': apiKey } })
      return statusCode !== 401
    },
  }
}
