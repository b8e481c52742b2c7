import type { IncomingMessage } from 'node:http'

/**
 * The value of a header, empty where there is none. Of a repeated one the first counts, as upstream; Node gives them all in one, from
 * which they cannot be told apart again.
 */
export function firstHeader(request: IncomingMessage, name: string): string {
  const joined = request.headers[name] ?? ''
  if (!joined.includes(',')) return String(joined)
  return request.headersDistinct[name]?.[0] ?? ''
}
