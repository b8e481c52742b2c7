import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import type { RpcHandlers } from './connect-handlers.ts'
import { normaliseHeaders } from './normalise-headers.ts'
import { RPC_PATHS } from './rpc-paths.ts'

/**
 * The routes of the two Connect services. What is behind them takes as long to load as all the rest of the daemon, so the daemon answers
 * before that; the returned function loads it ahead of the first call.
 */
export function registerServices(app: FastifyInstance, context: DaemonContext): () => Promise<unknown> {
  let loading: Promise<RpcHandlers> | undefined
  const load = (): Promise<RpcHandlers> => (loading ??= import('./connect-handlers.ts').then((module) => module.connectHandlers(context)))
  app.register((scope, _options, done) => {
    scope.addHook('onRequest', async (request) => normaliseHeaders(request.raw.headers))
    for (const path of RPC_PATHS) scope.post(path, async (request, reply) => (await load()).get(path)?.(request, reply))
    done()
  })
  return load
}
