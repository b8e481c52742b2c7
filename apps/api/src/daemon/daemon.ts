import type { SandboxEndpoint } from '@sandyard/runtime/types'

/** A daemon that was initialised, and what it lets its platform in with. */
export interface Daemon {
  readonly endpoint: SandboxEndpoint
  /** Undefined where the sandbox is open. */
  readonly accessToken: string | undefined
}

export function daemonUrl({ endpoint }: Daemon): string {
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host
  return `http://${host}:${endpoint.daemonPort}`
}

/** The headers of a call, for the user or, without one, for the daemon's default user (envd.md 3). */
export function daemonHeaders({ accessToken }: Daemon, user?: string): Record<string, string> {
  return {
    ...(accessToken !== undefined && { 'x-access-token': accessToken }),
    ...(user !== undefined && { authorization: `Basic ${Buffer.from(`${user}:`).toString('base64')}` }),
  }
}
