import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'

/**
 * The value of a header, empty where there is none. Of a repeated one the first counts, as upstream; Node joins them
 * into one value.
 */
export function firstHeader(request: IncomingMessage, name: string): string {
  const joined = request.headers[name] ?? ''
  if (!joined.includes(',')) return String(joined)
  return request.headersDistinct[name]?.[0] ?? ''
}

/** A hook for routes that read their body as JSON whatever its `Content-Type` is. Fastify refuses a malformed one. */
export async function ignoreMediaType({ raw }: FastifyRequest): Promise<void> {
  delete raw.headers['content-type']
}
