import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest } from 'fastify'

const ALLOWED_METHODS = new Set(['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const EXPOSED_HEADERS = 'Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin, Location, Cache-Control, X-Content-Type-Options'
const MAX_AGE_SECONDS = '7200'

/**
 * Lets pages of any origin call every route, without credentials (envd.md 2.3). Runs before every other hook: preflights need no token, and pages
 * can read refusals.
 */
export function applyCors(request: FastifyRequest, reply: FastifyReply, done: DoneFuncWithErrOrRes): void {
  const method = request.headers['access-control-request-method']
  if (request.method === 'OPTIONS' && method !== undefined && method !== '') return answerPreflight(request, reply, method)
  reply.header('Vary', 'Origin')
  if (request.headers.origin) {
    reply.header('Access-Control-Allow-Origin', '*').header('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  }
  done()
}

function answerPreflight(request: FastifyRequest, reply: FastifyReply, method: string): void {
  reply.header('Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers')
  if (request.headers.origin && ALLOWED_METHODS.has(method)) {
    reply.header('Access-Control-Allow-Origin', '*').header('Access-Control-Allow-Methods', method)
    const headers = request.headers['access-control-request-headers']
    if (headers !== undefined && headers !== '') reply.header('Access-Control-Allow-Headers', headers)
    reply.header('Access-Control-Max-Age', MAX_AGE_SECONDS)
  }
  void reply.code(204).send()
}
