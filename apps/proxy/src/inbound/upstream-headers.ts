import { endToEndHeaders, isChunked, trailerNames } from '../message/head.ts'
import { withoutDashboardCookies } from './without-dashboard-cookies.ts'
import type { RequestHead } from '../message/downstream-message.ts'

export interface UpstreamHeaderOptions {
  /** The host that the client asked for. */
  readonly authority: string
  /** Becomes `Host` instead of it (control-plane.md 18.7). */
  readonly maskHost?: string | undefined
  /** The protocol to ask the sandbox for, when the request is an upgrade. */
  readonly upgrade?: string | undefined
}

/** Methods whose requests have no body by default. */
const BODILESS_BY_DEFAULT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/**
 * The headers for the sandbox, as name, value, name, value: the client's in their order and spelling, without those of the
 * connection and the cookies of the dashboard. `X-Forwarded-For` is extended; `X-Forwarded-Host` (the original host) and `X-Forwarded-Proto` are set if a front has not
 * set them.
 */
export function upstreamHeaders(req: RequestHead, { authority, maskHost, upgrade }: UpstreamHeaderOptions): string[] {
  const framed = framing(req)
  const headers = withoutDashboardCookies(endToEndHeaders(req, (name) => name === 'host' || name === 'x-forwarded-for'))
  headers.push('Host', maskHost ?? authority)
  const clientAddress = (req.socket.remoteAddress ?? '').replace(/^::ffff:/, '')
  const forwardedFor = req.headers['x-forwarded-for']
  headers.push('X-Forwarded-For', forwardedFor === undefined ? clientAddress : `${String(forwardedFor)}, ${clientAddress}`)
  if (req.headers['x-forwarded-host'] === undefined) headers.push('X-Forwarded-Host', authority)
  if (req.headers['x-forwarded-proto'] === undefined) headers.push('X-Forwarded-Proto', 'http')
  if (/(?:^|,)\s*trailers\s*(?:,|$)/i.test(String(req.headers['te'] ?? ''))) headers.push('TE', 'trailers')
  if (upgrade !== undefined) headers.push('Connection', 'Upgrade', 'Upgrade', upgrade)
  return [...headers, ...framed]
}

function framing(req: RequestHead): string[] {
  if (isChunked(req)) return ['Transfer-Encoding', 'chunked', ...trailerNames(req)]
  if (req.headers['content-length'] === undefined && !BODILESS_BY_DEFAULT.has(req.method ?? '')) return ['Content-Length', '0']
  return []
}
