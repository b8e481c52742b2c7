import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { ServerContext } from '../context.ts'
import { toLanguage } from '../languages/languages.ts'
import { toContextView } from './context-view.ts'
import { nullable } from './nullable.ts'

const Body = Type.Object({ language: nullable(Type.String()), cwd: nullable(Type.String()) })

/** Starts a kernel of its own. `language` is Python and `cwd` the home directory when they are absent (clients.md 1.10). */
export function registerCreateContext(app: FastifyInstance, { contexts }: ServerContext): void {
  app.post('/contexts', { schema: { body: Body } }, async (request, reply) => {
    const { language, cwd } = request.body as Static<typeof Body>
    const context = await contexts.create(toLanguage(language), cwd || undefined)
    return reply.send(toContextView(context))
  })
}
