import type { FastifyRequest } from 'fastify'
import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../text/shorten.ts'

export interface OwnAddress {
  /** `SANDYARD_API_URL`: a TLS proxy in front may not pass on the scheme. */
  readonly apiUrl: string | undefined
  /** The domain of sandboxes: names of the form `<port>-<id>.<domain>` are never ours. */
  readonly domain: string
}

type Head = Pick<FastifyRequest, 'protocol' | 'host' | 'hostname' | 'method' | 'headers'>

/** The origins of pages that this server serves under the host of the request. */
function ownOrigins({ protocol, host }: Head, { apiUrl }: OwnAddress): string[] {
  const origins = [originOf(`${protocol}://${host}`)]
  if (apiUrl !== undefined && URL.canParse(apiUrl) && new URL(apiUrl).host === host.toLowerCase()) origins.push(new URL(apiUrl).origin)
  return origins.filter((origin) => origin !== '')
}

/** Whether the browser has come by TLS. */
export function isSecure(request: Head, address: OwnAddress): boolean {
  return ownOrigins(request, address).some((origin) => origin.startsWith('https:'))
}

/** The origin that the browser knows us by. */
export function ownOrigin(request: Head, address: OwnAddress): string {
  const origins = ownOrigins(request, address)
  return origins.find((origin) => origin.startsWith('https:')) ?? origins[0] ?? ''
}

/**
 * Pages of sandboxes are on the same site as the dashboard, so cookies with SameSite are sent with their requests; only `Origin` tells them
 * apart (dashboard-and-cli.md 5.3). It must be our own for all that changes something, and for the WebSocket.
 *
 * @throws AppError `permission_denied` for another or an absent one, and for a host name of a sandbox
 */
export function assertOwnOrigin(request: Head, address: OwnAddress): void {
  const { method, headers, hostname } = request
  if (isNameOfSandbox(hostname, address)) throw new AppError('permission_denied', 'The dashboard is not served under names of sandboxes')
  const isSafe = (method === 'GET' || method === 'HEAD') && headers.upgrade === undefined
  if (isSafe) return
  const { origin } = headers
  if (origin === undefined) throw new AppError('permission_denied', 'The request has no Origin header')
  if (ownOrigins(request, address).includes(origin.toLowerCase())) return
  throw new AppError(
    'permission_denied',
    `Requests from the origin '${shorten(origin)}' are refused. Behind a reverse proxy set SANDYARD_API_URL to the address in the browser, or SANDYARD_TRUSTED_PROXIES.`,
  )
}

function isNameOfSandbox(hostname: string, { domain }: OwnAddress): boolean {
  const base = URL.canParse(`http://${domain}`) ? new URL(`http://${domain}`).hostname : domain
  const name = hostname.toLowerCase()
  return name.endsWith(`.${base}`) && /^\d+-[^.]+$/.test(name.slice(0, -base.length - 1))
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}
