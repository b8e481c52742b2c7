/** The target of a request, from its request line and its Host header. */
export interface RequestTarget {
  /** Host and optional port, as the client wrote them. */
  readonly authority: string
  /** Path and query as sent to the sandbox: origin form, or `*`. */
  readonly path: string
}

const ABSOLUTE_FORM = /^https?:\/\/([^/?]*)(.*)$/i

/**
 * Reads the request target. An absolute-form target contains the host, and the Host header is ignored (RFC 9112, 3.2.2).
 * Undefined when the target has another scheme, names a user, or contains a fragment: some routers cut a path at `#`, others
 * do not, so such a path is ambiguous.
 */
export function parseRequestTarget(url: string, host: string): RequestTarget | undefined {
  if (url.includes('#')) return undefined
  if (url.startsWith('/') || url === '*') return { authority: host, path: url }
  const absolute = ABSOLUTE_FORM.exec(url)
  const [, authority, rest] = absolute ?? []
  if (authority === undefined || rest === undefined || authority.includes('@')) return undefined
  return { authority, path: rest.startsWith('/') ? rest : `/${rest}` }
}
