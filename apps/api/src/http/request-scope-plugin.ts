import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '@sandyard/kit/errors/app-error'
import { RequestFacts } from '@sandyard/kit/tracing/request-facts'
import { runInScope, type Scope } from '@sandyard/kit/tracing/scope'
import { startRootSpan, type Span } from '@sandyard/kit/tracing/span'
import { clientKey } from '@sandyard/kit/net/client-addresses'

/** The header with the id of a request, in requests and in answers. */
export const REQUEST_ID = 'x-request-id'

const ERROR_STATUS = 500

/**
 * Everything that is done for a request knows its id, and its span if it is traced. Must be registered before all other hooks. Health checks
 * are not traced.
 */
export const requestScopePlugin = fp(
  async (app) => {
    app.decorateRequest('facts')
    app.decorateRequest('scope')
    app.addHook('onRequest', (request, reply, done) => {
      request.facts = new RequestFacts({
        header: request.headers[REQUEST_ID],
        client: clientKey(request.ip),
        watchClient: () => goneSignal(reply),
      })
      request.scope = { request: request.facts, span: spanOf(request, reply) }
      void reply.header(REQUEST_ID, request.facts.id)
      runInScope(request.scope, done)
    })
    // It comes from the connection, not from the work that was begun above.
    app.addHook('onResponse', (request, _reply, done) => runInScope(request.scope, done))
  },
  { name: 'request-scope' },
)

declare module 'fastify' {
  interface FastifyRequest {
    facts: RequestFacts
    scope: Scope
  }
}

/** Not `request.signal`: that one also aborts once the body of a request is read. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const leave = (): void => {
    if (!raw.writableFinished) gone.abort(new AppError('canceled', 'The client has gone'))
  }
  if (raw.destroyed) leave()
  else raw.once('close', leave)
  return gone.signal
}

function spanOf(request: FastifyRequest, reply: FastifyReply): Span | undefined {
  const { operation, isHealthCheck } = request.routeOptions.config
  if (isHealthCheck === true || (operation === undefined && request.routeOptions.config.guardsItself !== true)) return undefined
  const { method, routeOptions, headers, ip, facts } = request
  const span = startRootSpan({
    name: `${method} ${routeOptions.url ?? ''}`,
    kind: 'server',
    parent: { traceparent: single(headers['traceparent']), tracestate: single(headers['tracestate']) },
    attributes: {
      'http.request.method': method,
      'http.route': routeOptions.url,
      'client.address': ip,
      'sandyard.operation': operation?.id,
      'sandyard.request_id': facts.id,
    },
  })
  // Also when the client disconnects before the answer.
  if (span !== undefined) reply.raw.once('close', () => endSpan(span, request, reply))
  return span
}

function endSpan(span: Span, { principal, facts }: FastifyRequest, { statusCode, sent }: FastifyReply): void {
  span.set({
    'http.response.status_code': sent ? statusCode : undefined,
    'sandyard.team_id': principal?.team?.id ?? facts.teamId,
  })
  span.end(sent && statusCode < ERROR_STATUS ? undefined : new Error(sent ? `answered ${statusCode}` : 'the client disconnected'))
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
