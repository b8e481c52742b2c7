import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { AppError } from '@sandyard/kit/errors/app-error'
import { Quota } from '@sandyard/kit/limits/quota'
import { bodyOwner } from './body-owner.ts'
import { hasStreamedBody } from './streamed-bodies.ts'
import { valueBytes } from './value-size.ts'

const MIB = 1024 ** 2

/** Bodies of ordinary requests are never refused for the large ones of others. */
const CAPS = { all: 256 * MIB, one: 64 * MIB, guaranteed: MIB / 4 }

/** What a request counts for. */
interface Held {
  readonly owner: string
  bytes: number
  /** The work for the request, which keeps the body also when its client has gone. */
  work: Promise<unknown>
}

/**
 * Counts the memory of bodies, from their heads until the answer has been sent and the work has ended: a request that waits keeps its body. A body that
 * arrives counts as declared, and without a length as the most that is read, so nothing is read of one that is refused. Once it is parsed, its values count.
 */
export const bodyMemoryPlugin = fp(
  async (app) => {
    const quota = new Quota(CAPS)
    const holding = new WeakMap<FastifyRequest, Held>()

    app.addHook('onRoute', (route) => {
      const { handler } = route
      route.handler = function (request, reply) {
        const result: unknown = handler.call(this, request, reply)
        const held = holding.get(request)
        if (held !== undefined && result instanceof Promise) held.work = result
        return result
      }
    })
    app.addHook('preParsing', async (request, reply) => {
      const bytes = isRead(request) ? arrivingBytes(request) : 0
      if (bytes === 0) return
      // Its end would not be told any more.
      if (reply.raw.destroyed) throw clientGone()
      const held: Held = { owner: bodyOwner(request), bytes: 0, work: Promise.resolve() }
      grow(quota, held, bytes)
      holding.set(request, held)
      reply.raw.once('close', () => {
        void Promise.allSettled([held.work]).then(() => quota.release(held.owner, held.bytes))
      })
    })
    app.addHook('preValidation', async (request, reply) => {
      const held = holding.get(request)
      if (held === undefined) return
      if (reply.raw.destroyed) throw clientGone()
      const bytes = request.body === undefined ? 0 : valueBytes(request.body)
      if (bytes > held.bytes) grow(quota, held, bytes - held.bytes)
      else {
        quota.release(held.owner, held.bytes - bytes)
        held.bytes = bytes
      }
    })
  },
  { name: 'body-memory', dependencies: ['bodies'] },
)

function grow(quota: Quota, held: Held, bytes: number): void {
  if (quota.take(held.owner, bytes) !== undefined) {
    throw new AppError('resource_exhausted', 'Too many large requests are in flight: try again', { headers: { 'retry-after': '1' } })
  }
  held.bytes += bytes
}

function clientGone(): AppError {
  return new AppError('canceled', 'The client has gone')
}

/** Whether the body is read into memory. */
function isRead(request: FastifyRequest): boolean {
  return request.method !== 'GET' && request.method !== 'HEAD' && !hasStreamedBody(request)
}

function arrivingBytes({ headers, routeOptions }: FastifyRequest): number {
  const most = routeOptions.bodyLimit ?? 0
  return headers['transfer-encoding'] === undefined ? Math.min(Number(headers['content-length'] ?? 0), most) : most
}
