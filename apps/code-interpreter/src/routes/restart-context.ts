import type { FastifyInstance } from 'fastify'
import type { ServerContext } from '../context.ts'

/** The context keeps its id, language and directory, and loses its state. */
export function registerRestartContext(app: FastifyInstance, { contexts }: ServerContext): void {
  app.post('/contexts/:id/restart', async (request, reply) => {
    await contexts.get((request.params as { id: string }).id).restart()
    return reply.code(204).send()
  })
}
