import type { FastifyInstance } from 'fastify'
import type { ServerContext } from '../context.ts'
import { toContextView } from './context-view.ts'

export function registerListContexts(app: FastifyInstance, { contexts }: ServerContext): void {
  app.get('/contexts', async () => contexts.list().map((context) => toContextView(context)))
}
