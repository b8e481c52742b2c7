import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { MemoryQuota } from './memory-quota.ts'
import type { CountRefused } from './request-cap.ts'
import { requestOwner } from './request-owner.ts'
import { clientGone, onceDone } from './request-work.ts'
import { hasStreamedBody } from './streamed-bodies.ts'
import { valueBytes } from './value-size.ts'

/** What a request counts for. */
interface Held {
  readonly owner: string
  bytes: number
}

/**
 * Counts the memory of bodies, from their heads until the answer has been sent and the work has ended: a request that waits keeps its body. A body that
 * arrives counts as declared, and without a length as the most that is read, so nothing is read of one that is refused. Once it is parsed, its values count.
 */
export const bodyMemoryPlugin = fp<{ countRefused: CountRefused }>(
  async (app, { countRefused }) => {
    const quota = new MemoryQuota({ cap: 'body_memory', message: 'Too many large requests are in flight: try again', countRefused })
    const holding = new WeakMap<FastifyRequest, Held>()
    app.addHook('preParsing', async (request, reply) => {
      const bytes = isRead(request) ? arrivingBytes(request) : 0
      if (bytes === 0) return
      // Its end would not be told any more.
      if (reply.raw.destroyed) throw clientGone()
      const held: Held = { owner: requestOwner(request), bytes }
      quota.take(held.owner, bytes)
      holding.set(request, held)
      onceDone(request, reply, () => quota.release(held.owner, held.bytes))
    })
    app.addHook('preValidation', async (request, reply) => {
      const held = holding.get(request)
      if (held === undefined) return
      if (reply.raw.destroyed) throw clientGone()
      const bytes = request.body === undefined ? 0 : valueBytes(request.body)
      if (bytes > held.bytes) quota.take(held.owner, bytes - held.bytes)
      else quota.release(held.owner, held.bytes - bytes)
      held.bytes = bytes
    })
  },
  { name: 'body-memory', dependencies: ['bodies', 'request-work'] },
)

/** Whether the body is read into memory. */
function isRead(request: FastifyRequest): boolean {
  return request.method !== 'GET' && request.method !== 'HEAD' && !hasStreamedBody(request)
}

function arrivingBytes({ headers, routeOptions }: FastifyRequest): number {
  const most = routeOptions.bodyLimit ?? 0
  return headers['transfer-encoding'] === undefined ? Math.min(Number(headers['content-length'] ?? 0), most) : most
}
