import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isSameText } from '../access/same-text.ts'

export interface TunnelRules {
  /** SHA-512 hex of the proxy's secret. */
  readonly tunnelHash: string
  /** The daemon's own port: a tunnel to it would bypass the proxy's access checks. */
  readonly daemonPort: number
}

export interface TunnelRefusal {
  readonly status: 403 | 407
}

const TARGET = /^localhost:([1-9]\d{0,4})$/
const BEARER = /^Bearer ([0-9a-f]{64})$/

/** The port of localhost that `CONNECT localhost:{port}` asks for, or why it is refused. */
export function readTunnelRequest(request: Pick<IncomingMessage, 'url' | 'headers'>, rules: TunnelRules): number | TunnelRefusal {
  const [, secret] = BEARER.exec(request.headers['proxy-authorization'] ?? '') ?? []
  if (secret === undefined || !isSameText(sha512(secret), rules.tunnelHash.toLowerCase())) return { status: 407 }
  const port = Number(TARGET.exec(request.url ?? '')?.[1])
  return port <= 65_535 && port !== rules.daemonPort ? port : { status: 403 }
}

function sha512(text: string): string {
  return createHash('sha512').update(text).digest('hex')
}
