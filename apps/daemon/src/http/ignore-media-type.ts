import type { FastifyRequest } from 'fastify'

/** A hook for routes that read their body as JSON whatever its `Content-Type` is. Fastify refuses a malformed one. */
export async function ignoreMediaType({ raw }: FastifyRequest): Promise<void> {
  delete raw.headers['content-type']
}
