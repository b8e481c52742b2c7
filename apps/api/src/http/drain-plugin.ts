import fp from 'fastify-plugin'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Drain } from './drain.ts'

/** Counts the requests in flight, and refuses new ones once the server drains. Health checks are neither counted nor refused. */
export const drainPlugin = fp<{ drain: Drain }>(
  async (app, { drain }) => {
    app.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config.isHealthCheck === true) return
      if (drain.isDraining) throw stopping()
      reply.raw.once('close', drain.enter())
    })
    // Otherwise clients would send their next request on a connection to a stopped server.
    app.addHook('onSend', async (_request, reply) => {
      if (drain.isDraining) void reply.header('connection', 'close')
    })
  },
  { name: 'drain' },
)

/** The server has not started the request, so clients may retry it, also a create (clients-python-2.63.md 3). */
function stopping(): AppError {
  const headers = { 'should-retry': 'true', 'retry-after': '1' }
  return new AppError('unavailable', 'The server is stopping: send the request again', { headers })
}
