import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DaemonContext } from '../context.ts'
import type { RpcHandler } from './rpc-deps.ts'
import { RPC_PATHS } from './rpc-paths.ts'

const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;.*)?$/

/**
 * The routes of the two Connect services. What is behind them takes as long to load as all the rest of the daemon, so the daemon answers
 * before that; the returned function loads it ahead of the first call.
 */
export function registerServices(app: FastifyInstance, context: DaemonContext): () => Promise<unknown> {
  let handlers: ReadonlyMap<string, RpcHandler> | undefined
  let loading: Promise<unknown> | undefined
  async function load(): Promise<void> {
    const module = await import('./connect-handlers.ts')
    handlers = module.connectHandlers(context)
  }
  app.register((scope, _options, done) => {
    scope.addHook('onRequest', admitAnyMediaType)
    for (const path of RPC_PATHS) {
      scope.post(path, async (request, reply) => {
        if (handlers === undefined) await (loading ??= load())
        return handlers?.get(path)?.(request, reply)
      })
    }
    done()
  })
  return () => (loading ??= load())
}

/** A type that is none is a wrong one: Fastify would answer such a one by itself, and differently. */
function admitAnyMediaType({ raw: { headers } }: FastifyRequest, _reply: FastifyReply, done: DoneFuncWithErrOrRes): void {
  if (!MEDIA_TYPE.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/octet-stream'
  done()
}
