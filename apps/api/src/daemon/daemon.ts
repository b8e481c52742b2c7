import { scopeHeaders } from '@sandyard/kit/tracing/scope'
import type { SandboxEndpoint } from '@sandyard/runtime/types'

/** An initialised daemon and its access token. */
export interface Daemon {
  readonly endpoint: SandboxEndpoint
  /** Undefined for an open sandbox. */
  readonly accessToken: string | undefined
}

export function daemonUrl({ endpoint }: Daemon): string {
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host
  return `http://${host}:${endpoint.daemonPort}`
}

/** The headers of a call as the given user, else as the daemon's default user (envd.md 3), for the current request. */
export function daemonHeaders({ accessToken }: Daemon, user?: string): Record<string, string> {
  return {
    ...scopeHeaders(),
    ...(accessToken !== undefined && { 'x-access-token': accessToken }),
    ...(user !== undefined && { authorization: `Basic ${Buffer.from(`${user}:`).toString('base64')}` }),
  }
}
