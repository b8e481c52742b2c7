import { loadOnce } from '@sandyard/kit/async/load-once'
import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DaemonContext } from '../context.ts'
import type { RpcHandler } from './connect-handlers.ts'
import { listMediaTypes, prepareHeaders, readMediaType } from './request-headers.ts'
import { RPC_METHODS } from './rpc-methods.ts'

/**
 * The routes of the two Connect services. The library behind them takes as long to load as all the rest of the daemon, so the daemon answers
 * before that; the returned function loads it ahead of the first call.
 */
export function registerServices(app: FastifyInstance, context: DaemonContext): () => Promise<unknown> {
  let handlers: ReadonlyMap<string, RpcHandler> | undefined
  const load = loadOnce(async () => {
    const { connectHandlers } = await import('./connect-handlers.ts')
    return (handlers = connectHandlers(context))
  })
  app.register((scope, _options, done) => {
    scope.addHook('onRequest', prepareCall)
    for (const path of RPC_METHODS.keys()) {
      scope.post(path, async (request, reply) => (handlers ?? (await load())).get(path)?.(request, reply))
    }
    done()
  })
  return load
}

/** Refuses media types that the method does not take (envd.md 6.1), and brings the headers into the form that the library reads. */
function prepareCall(request: FastifyRequest, reply: FastifyReply, done: DoneFuncWithErrOrRes): void {
  const kind = RPC_METHODS.get(request.routeOptions.url ?? '') ?? 'unary'
  const type = readMediaType(request.headers['content-type'], kind)
  if (type === undefined) return void reply.code(415).header('Accept-Post', listMediaTypes(kind)).send()
  prepareHeaders(request.raw)
  request.raw.headers['content-type'] = type
  const prefix = type.startsWith('application/grpc') ? 'Grpc-' : kind === 'unary' ? '' : 'Connect-'
  reply.header(`${prefix}Accept-Encoding`, 'gzip')
  done()
}
