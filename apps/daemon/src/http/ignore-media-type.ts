import type { FastifyRequest } from 'fastify'

/** A hook for routes whose body is JSON whatever it says that it is. Fastify refuses what is no media type at all. */
export async function ignoreMediaType({ raw }: FastifyRequest): Promise<void> {
  delete raw.headers['content-type']
}
