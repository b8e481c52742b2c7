import cors from '@fastify/cors'
import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { sendErrorReply, toNoRouteReply } from './error-reply.ts'

/** The headers of control-plane.md 1.12 and of newer clients. */
const REQUEST_HEADERS = [
  'Origin',
  'Content-Length',
  'Content-Type',
  'User-Agent',
  'Authorization',
  'X-API-Key',
  'X-Team-ID',
  'Idempotency-Key',
  'browser',
  'lang',
  'lang_version',
  'machine',
  'os',
  'package_version',
  'processor',
  'publisher',
  'release',
  'sdk_runtime',
  'system',
  'X-Request-ID',
  'traceparent',
  'tracestate',
]

const EXPOSED_HEADERS = [
  'X-Next-Token',
  'X-Total-Running',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Should-Retry',
  'X-Request-ID',
]

const PREFLIGHT_SECONDS = 12 * 3600

export interface CorsPluginOptions {
  /** Requests that only pages of this server may make: browsers send their credential by themselves. */
  readonly isSameOriginOnly: (request: FastifyRequest) => boolean
}

/** Allows every origin. The API key protects the server, because browsers do not send it by themselves. */
export const corsPlugin = fp<CorsPluginOptions>(
  async (app, { isSameOriginOnly }) => {
    app.addHook('onRequest', async (request, reply) => {
      // A preflight without CORS headers is refused by the browser.
      if (request.method === 'OPTIONS' && isSameOriginOnly(request)) return sendErrorReply(reply, toNoRouteReply(request))
      return undefined
    })
    app.addHook('onSend', async (request, reply) => {
      if (!isSameOriginOnly(request)) return
      reply.removeHeader('access-control-allow-origin')
      reply.removeHeader('access-control-expose-headers')
    })
    await app.register(cors, {
      origin: '*',
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowedHeaders: REQUEST_HEADERS,
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: PREFLIGHT_SECONDS,
      strictPreflight: false,
    })
  },
  { name: 'cors' },
)
