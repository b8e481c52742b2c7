import type { FastifyInstance } from 'fastify'

/** The ready check of the template: the server listens once the default kernel runs. */
export function registerHealth(app: FastifyInstance): void {
  app.get('/health', async () => 'OK')
}
