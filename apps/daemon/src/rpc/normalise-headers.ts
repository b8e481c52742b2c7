import type { IncomingHttpHeaders } from 'node:http'

/** The longest wait of a Node timer, 24 days and longer than any sandbox lives. A longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;.*)?$/

/**
 * Prepares headers of an RPC for Connect: a timeout beyond any timer means the longest one, and a `Host` that is absent or no URL's host,
 * which Connect would need for an URL that nobody reads, is replaced. A media type that is none counts as a wrong one.
 */
export function normaliseHeaders(headers: IncomingHttpHeaders): void {
  const timeout = headers['connect-timeout-ms']
  if (typeof timeout === 'string' && /^\d{10}$/.test(timeout) && Number(timeout) > LONGEST_TIMER_MS) {
    headers['connect-timeout-ms'] = String(LONGEST_TIMER_MS)
  }
  headers.host = 'sandbox'
  // Fastify would answer such a one by itself, and differently from other types that are not the right one.
  if (!MEDIA_TYPE.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/octet-stream'
}
