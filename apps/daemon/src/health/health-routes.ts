import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { sendJson } from '../http/json-reply.ts'

/** `/health` and `/envs` (envd.md 5.2, 5.4). Neither may be kept by a cache. */
export function registerHealthRoutes(app: FastifyInstance, { state }: DaemonContext): void {
  app.get('/health', async (_request, reply) => reply.code(204).header('Cache-Control', 'no-store').send())

  app.get('/envs', async (_request, reply) => sendJson(reply.header('Cache-Control', 'no-store'), state.variables))
}
