import type { FastifyRequest } from 'fastify'
import { clientKey } from '@sandyard/kit/net/client-addresses'

/** Whom a request counts for: its team or its user once it is authenticated, or its client address. */
export function requestOwner({ principal, ip }: FastifyRequest): string {
  return principal?.team?.id ?? principal?.user?.id ?? clientKey(ip)
}
