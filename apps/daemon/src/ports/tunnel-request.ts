import type { IncomingMessage } from 'node:http'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import { isSameText } from '@sandyard/kit/secrets/same-text'

export interface TunnelRules {
  /** `secretDigest` of the proxy's secret; undefined before `/init`. */
  readonly tunnelSecretHash: string | undefined
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
  const { tunnelSecretHash } = rules
  if (secret === undefined || tunnelSecretHash === undefined) return { status: 407 }
  if (!isSameText(secretDigest(secret), tunnelSecretHash)) return { status: 407 }
  const port = Number(TARGET.exec(request.url ?? '')?.[1])
  return port <= 65_535 && port !== rules.daemonPort ? port : { status: 403 }
}
