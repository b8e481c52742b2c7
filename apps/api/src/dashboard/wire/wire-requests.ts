import type { IncomingMessage } from 'node:http'

const WIRE = '/dashboard/api/wire'

/** The session alone says who calls. */
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'x-admin-token', 'x-team-id', 'x-access-token']

const marked = new WeakSet<IncomingMessage>()

/**
 * For `rewriteUrl` of the server: `/dashboard/api/wire/x` becomes `/x`, and the request is marked. The very handlers of the interface serve
 * it then, with its hooks, limits, audit and schemas.
 */
export function rewriteWireUrl(request: IncomingMessage): string {
  const url = request.url ?? '/'
  if (!url.startsWith(`${WIRE}/`)) return url
  marked.add(request)
  for (const name of CREDENTIAL_HEADERS) delete request.headers[name]
  return url.slice(WIRE.length)
}

/** Whether the request came through `/dashboard/api/wire`. */
export function isWireRequest(request: IncomingMessage): boolean {
  return marked.has(request)
}

export function isDashboardUrl(url: string): boolean {
  return url === '/dashboard' || url.startsWith('/dashboard/') || url.startsWith('/dashboard?')
}
