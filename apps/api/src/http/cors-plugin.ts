import cors from '@fastify/cors'
import fp from 'fastify-plugin'

/** control-plane.md 1.12, and what newer clients send. */
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
]

const EXPOSED_HEADERS = [
  'X-Next-Token',
  'X-Total-Running',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Should-Retry',
]

const PREFLIGHT_SECONDS = 12 * 3600

/** Any page may call: what protects the server is the key, which no browser sends by itself. */
export const corsPlugin = fp(
  async (app) => {
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
