import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { AppError } from '@sandyard/kit/errors/app-error'
import { Quota } from '@sandyard/kit/limits/quota'
import { bodyOwner } from './body-owner.ts'
import { hasStreamedBody } from './streamed-bodies.ts'

const MIB = 1024 ** 2

/** Bodies of ordinary requests are never refused for the large ones of others. */
const CAPS = { all: 256 * MIB, one: 128 * MIB, guaranteed: MIB / 4 }

/**
 * Counts the bytes of the bodies in memory, from their heads until the answer has been sent: a request that waits keeps its body. They are counted as declared,
 * and without a length as the most that is read, so nothing is read of a body that is refused.
 */
export const bodyMemoryPlugin = fp(
  async (app) => {
    const held = new Quota(CAPS)
    app.addHook('preParsing', async (request, reply) => {
      const bytes = hasStreamedBody(request) ? 0 : bodyBytes(request)
      if (bytes === 0) return
      // Its end would not be told any more.
      if (reply.raw.destroyed) throw new AppError('canceled', 'The client has gone')
      const owner = bodyOwner(request)
      if (held.take(owner, bytes) !== undefined) {
        throw new AppError('resource_exhausted', 'Too many large requests are in flight: try again', { headers: { 'retry-after': '1' } })
      }
      reply.raw.once('close', () => held.release(owner, bytes))
    })
  },
  { name: 'body-memory', dependencies: ['bodies'] },
)

function bodyBytes({ headers, routeOptions }: FastifyRequest): number {
  const most = routeOptions.bodyLimit ?? 0
  return headers['transfer-encoding'] === undefined ? Math.min(Number(headers['content-length'] ?? 0), most) : most
}
