import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { sendError } from '../http/error-reply.ts'
import { sendJson } from '../http/json-reply.ts'

/** `/health`, `/metrics` and `/envs` (envd.md 5.2-5.4). None of them may be kept by a cache. */
export function registerHealthRoutes(app: FastifyInstance, { state }: DaemonContext): void {
  app.get('/health', async (_request, reply) => reply.code(204).header('Cache-Control', 'no-store').send())

  // Refused rather than guessed: the numbers have to be the container's own, not the host's (docs/compatibility.md).
  app.get('/metrics', async (_request, reply) => sendError(reply.header('Cache-Control', 'no-store'), 501, 'metrics are not implemented'))

  app.get('/envs', async (_request, reply) => sendJson(reply.header('Cache-Control', 'no-store'), state.variables))
}
