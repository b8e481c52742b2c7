import type { FastifyRequest } from 'fastify'

/**
 * Who keeps memory with a request: its team or its user once it is authenticated, or its client address. Not `currentOwner`, for whom the work is done: a
 * request of an administrator waits in the turns of the team that it is about, but what this team has in flight does not refuse it.
 */
export function requestOwner(request: FastifyRequest): string {
  const { principal } = request
  return principal?.team?.id ?? principal?.user?.id ?? clientOf(request)
}

/** The key of the client address, which is made once for each request. */
export function clientOf({ facts }: FastifyRequest): string {
  return facts.client ?? ''
}
