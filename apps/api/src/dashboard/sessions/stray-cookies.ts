import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { cookieName, cookieValues } from './session-cookie.ts'

/** Reverse proxies take 4 KiB of headers from a server. */
const MAX_REMOVALS = 40
const PLAIN_PATH = /^[\w/.~%-]*$/

/**
 * Values of `Set-Cookie` that remove every cookie of the request with the name of ours that is not ours. Ours is of this host only, with the path `/`.
 * Without TLS a page of a sandbox can set others for the parent domain or for a longer path (dashboard-and-cli.md 5.3), and a request does not tell
 * which is which. With TLS the prefix `__Host-` keeps them out. Empty: there is one cookie at most.
 */
export function removalsOfStrayCookies(
  { headers, hostname, url }: Pick<FastifyRequest, 'headers' | 'hostname' | 'url'>,
  isSecure: boolean,
): string[] {
  if (isSecure || cookieValues(headers, isSecure).length < 2) return []
  const domains = parentDomains(hostname.toLowerCase())
  const removals = matchingPaths(url.split('?', 1)[0] ?? '').flatMap((path) => {
    const removal = `${cookieName(isSecure)}=; Max-Age=0; Path=${path}`
    return [...(path === '/' ? [] : [removal]), ...domains.map((domain) => `${removal}; Domain=${domain}`)]
  })
  return removals.slice(0, MAX_REMOVALS)
}

/** The domains that a page below or beside this host can set cookies for. Not a single label: for `localhost` that would be the cookie of the host itself. */
function parentDomains(hostname: string): string[] {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return []
  const labels = hostname.split('.')
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))
}

/** The paths of cookies that a browser sends to `path`, the shortest first (RFC 6265, 5.1.4). */
function matchingPaths(path: string): string[] {
  const names = (PLAIN_PATH.test(path) ? path : '').split('/').filter((name) => name !== '')
  const folders = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
  return ['/', ...folders.flatMap((folder) => [folder, `${folder}/`])]
}
