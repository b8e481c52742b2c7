/** Where a request wants to go, from its request line and its Host header. */
export interface RequestTarget {
  /** Host and perhaps port, as the client wrote them. */
  readonly authority: string
  /** Path and query as they go on the wire to the sandbox: origin form, or `*`. */
  readonly path: string
}

const ABSOLUTE_FORM = /^https?:\/\/([^/?]*)(.*)$/i

/**
 * Reads the request target. An absolute-form target names the host itself and the Host header is ignored (RFC 9112, 3.2.2).
 * Undefined when the target is of another scheme, names a user, or carries a fragment: some routers cut a path at `#`, others
 * do not, so such a path has no single meaning.
 */
export function parseRequestTarget(url: string, host: string): RequestTarget | undefined {
  if (url.includes('#')) return undefined
  if (url.startsWith('/') || url === '*') return { authority: host, path: url }
  const absolute = ABSOLUTE_FORM.exec(url)
  const [, authority, rest] = absolute ?? []
  if (authority === undefined || rest === undefined || authority.includes('@')) return undefined
  return { authority, path: rest.startsWith('/') ? rest : `/${rest}` }
}
