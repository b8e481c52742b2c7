import fp from 'fastify-plugin'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { FastifyReply, FastifyRequest } from 'fastify'

const works = new WeakMap<FastifyRequest, Promise<unknown>>()
const releases = new WeakMap<FastifyRequest, (() => void)[]>()

/**
 * Notes the work of each request, which may go on when its client has gone. No work begins for a client that has gone before. Must be registered before the
 * routes.
 */
export const requestWorkPlugin = fp(
  async (app) => {
    app.addHook('onRoute', (route) => {
      const { handler } = route
      route.handler = function (request, reply) {
        if (reply.raw.destroyed) throw clientGone()
        const result: unknown = handler.call(this, request, reply)
        if (result instanceof Promise) works.set(request, result)
        return result
      }
    })
  },
  { name: 'request-work' },
)

/** Calls `release` once, when the answer has been sent or the client has gone, and the work that has begun for the request has ended. */
export function onceDone(request: FastifyRequest, reply: FastifyReply, release: () => void): void {
  const known = releases.get(request)
  if (known !== undefined) return void known.push(release)
  const all = [release]
  releases.set(request, all)
  const done = async (): Promise<void> => {
    await Promise.allSettled([works.get(request)])
    for (const each of all) each()
  }
  reply.raw.once('close', () => void done())
}

/** For a request whose end would not be told any more. */
export function clientGone(): AppError {
  return new AppError('canceled', 'The client has gone')
}
