import type { FastifyRequest } from 'fastify'
import type { ApiInstance } from '../api-instance.ts'

const scopes = new WeakSet<object>()

/** The routes of this scope read their bodies themselves, whatever the content type, once they know that they want them. */
export function streamBodies(scope: ApiInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  scopes.add(scope)
}

export function hasStreamedBody({ server }: FastifyRequest): boolean {
  return scopes.has(server)
}
