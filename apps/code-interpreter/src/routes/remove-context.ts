import type { FastifyInstance } from 'fastify'
import type { ServerContext } from '../context.ts'

export function registerRemoveContext(app: FastifyInstance, { contexts }: ServerContext): void {
  app.delete('/contexts/:id', async (request, reply) => {
    await contexts.remove((request.params as { id: string }).id)
    return reply.code(204).send()
  })
}
