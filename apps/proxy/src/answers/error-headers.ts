import type { IncomingMessage } from 'node:http'
import { DAEMON_PORT } from '../address/host.ts'

/** Headers of every answer that the proxy gives by itself. A script of any page may read them: they say nothing that it did not ask with. */
export function errorHeaders(req: IncomingMessage, contentType: string): string[] {
  const headers = ['Content-Type', contentType, 'Cache-Control', 'no-store']
  return req.headers.origin === undefined ? headers : [...headers, 'Access-Control-Allow-Origin', '*', 'Vary', 'Origin']
}

/**
 * The answer to a browser's preflight for a daemon that cannot be reached, or undefined when the request is not one. The daemon
 * allows every origin (envd.md 2.3); without this a script could never see why its sandbox does not answer. Users' services
 * have rules of their own, which are not known while they do not answer. `Max-Age` 0 keeps browsers from remembering it.
 */
export function preflightHeaders(req: IncomingMessage, port: number | undefined): string[] | undefined {
  const { origin } = req.headers
  const method = req.headers['access-control-request-method']
  if (req.method !== 'OPTIONS' || port !== DAEMON_PORT || origin === undefined || method === undefined) return undefined
  const names = req.headers['access-control-request-headers']
  const headers = ['Access-Control-Allow-Origin', '*', 'Access-Control-Allow-Methods', method, 'Access-Control-Max-Age', '0']
  return names === undefined ? headers : [...headers, 'Access-Control-Allow-Headers', names]
}
