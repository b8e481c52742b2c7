import type { IncomingHttpHeaders } from 'node:http'
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'

/** The longest wait of a Node timer, 24 days and longer than any sandbox lives. A longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;.*)?$/

/** Refuses what Connect's handlers would read differently from the wire (envd.md 6.3, 6.6). Runs before a request's body is read. */
export function requestGate(context: HandlerContext): void {
  const headers = context.requestHeader
  const timeout = headers.get('connect-timeout-ms')
  if (timeout !== null && !/^\d{1,10}$/.test(timeout)) {
    const fault = /^\d+$/.test(timeout) ? 'has >10 digits' : 'is not a number of milliseconds'
    throw new ConnectError(`parse timeout: "${timeout}" ${fault}`, Code.InvalidArgument)
  }
  const empty = !headers.has('transfer-encoding') && Number(headers.get('content-length') ?? 0) === 0
  if (empty && context.method.methodKind === 'unary' && /^application\/json\b/i.test(headers.get('content-type') ?? '')) {
    throw new ConnectError('unmarshal message: zero-length payload is not a valid JSON object', Code.InvalidArgument)
  }
}

/**
 * Prepares headers of an RPC for Connect: a timeout beyond any timer means the longest one, and a `Host` that is absent or no URL's host,
 * which Connect would need for an URL that nobody reads, is replaced.
 * A media type that is none counts as a wrong one.
 */
export async function normaliseHeaders({ headers }: { headers: IncomingHttpHeaders }): Promise<void> {
  const timeout = headers['connect-timeout-ms']
  if (typeof timeout === 'string' && /^\d{10}$/.test(timeout) && Number(timeout) > LONGEST_TIMER_MS) {
    headers['connect-timeout-ms'] = String(LONGEST_TIMER_MS)
  }
  headers.host = 'sandbox'
  // Fastify would answer such a one by itself, and differently from other types that are not the right one.
  if (!MEDIA_TYPE.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/octet-stream'
}
