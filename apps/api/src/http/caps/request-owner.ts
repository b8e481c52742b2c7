import type { FastifyRequest } from 'fastify'

/** Whom a request counts for: its team or its user once it is authenticated, or its client address. */
export function requestOwner(request: FastifyRequest): string {
  const { principal } = request
  return principal?.team?.id ?? principal?.user?.id ?? clientOf(request)
}

/** The key of the client address, which is made once for each request. */
export function clientOf({ facts }: FastifyRequest): string {
  return facts.client ?? ''
}
