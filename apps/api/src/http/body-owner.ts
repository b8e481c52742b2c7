import type { FastifyRequest } from 'fastify'
import { clientKey } from './client-address.ts'

/** The team, the user or the client address whose body it is, once the request is authenticated. */
export function bodyOwner({ principal, ip }: FastifyRequest): string {
  return principal?.team?.id ?? principal?.user?.id ?? clientKey(ip)
}
