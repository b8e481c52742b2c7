import Fastify, { LogController, type FastifyBaseLogger } from 'fastify'
import { Secret } from '@sandyard/kit/config/secret'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { ROUTES } from '../../app.ts'
import type { AppContext } from '../../context.ts'
import type { ApiInstance } from '../api-instance.ts'
import { registerHealthRoutes } from '../health-routes.ts'
import { openapiPlugin } from './openapi-plugin.ts'

/** The description that a server has at `/openapi.json`, made without a server, a database or an engine. */
export async function describeApi(): Promise<object> {
  const loggerInstance: FastifyBaseLogger = silentLogger()
  const app: ApiInstance = Fastify({ loggerInstance, logController: new LogController({ disableRequestLogging: true }) })
  // No route is called, so no schema is compiled.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  await app.register(openapiPlugin)
  const ctx = routesOnly()
  registerHealthRoutes(app, ctx)
  for (const register of ROUTES) register(app, ctx)
  await app.ready()
  try {
    return app.swagger()
  } finally {
    await app.close()
  }
}

/** What routes read when they are registered. Their handlers are never called. */
function routesOnly(): AppContext {
  const nothing: object = new Proxy(() => undefined, { get: (_, name) => (name === 'tokenSeed' ? new Secret('') : nothing) })
  return nothing as AppContext
}
