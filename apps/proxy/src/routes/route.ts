import type { SandboxWatcher } from '@sandyard/db/rows/watch-sandboxes'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { Secret } from '@sandyard/kit/config/secret'

/** The address of a sandbox. */
interface Endpoint {
  readonly host: string
  readonly daemonPort: number
}

/** The proxy's data of a sandbox that has a row. */
export interface Route {
  readonly sandboxId: string
  readonly teamId: string
  /** Binds connections to one start of the sandbox: a later start under the same id is another destination. */
  readonly incarnation: number
  readonly state: SandboxState
  readonly endpoint: Endpoint | undefined
  /** When this run began, in milliseconds: a resume gives the sandbox a new one. Undefined before its first run. */
  readonly startedAt: number | undefined
  /** The daemon accepts only requests with the access token. */
  readonly isSecure: boolean
  /** The ports of users need no traffic token. */
  readonly isPublic: boolean
  /** Replaces `Host` in requests to ports of users; `${PORT}` is the port. */
  readonly maskHost: string | undefined
  /** Ports of users whose services speak TLS (clients-python-2.63.md 4). */
  readonly httpsPorts: readonly number[]
  /** Traffic resumes it when it is paused. */
  readonly wakes: boolean
}

/** A route that accepts traffic now. */
export type LiveRoute = Route & { readonly endpoint: Endpoint }

export function isLive(route: Route | undefined): route is LiveRoute {
  return route?.state === 'running' && route.endpoint !== undefined
}

/** The state changes soon, so a request may wait for the next one. */
export function isTransitional(route: Route | undefined): route is Route {
  return route?.state === 'pausing' || route?.state === 'resuming' || route?.state === 'snapshotting'
}

/** Whether the run that a connection belongs to goes on. A snapshot delays new requests but keeps the run and its connections. */
export function isSameRun(current: Route | undefined, pinned: LiveRoute): boolean {
  return (
    (current?.state === 'running' || current?.state === 'snapshotting') &&
    current.incarnation === pinned.incarnation &&
    current.startedAt === pinned.startedAt &&
    current.endpoint?.host === pinned.endpoint.host &&
    current.endpoint.daemonPort === pinned.endpoint.daemonPort
  )
}

/** The store of routes: Postgres, or a map in tests. */
export interface RouteSource {
  /** The current routes by id, of those sandboxes that have a row. */
  read(sandboxIds: readonly string[]): Promise<ReadonlyMap<string, Route>>
  /** Calls `watcher` until disposed. */
  watch(watcher: SandboxWatcher): AsyncDisposable
}

/** The store of the installation's seed. */
export interface TokenSeedSource {
  /** @throws when the installation has none yet */
  readTokenSeed(): Promise<Secret>
}

/** The store of secured sandboxes. */
export interface SecuredSandboxes {
  /** At most `limit` ids above `after` of sandboxes in any state that have a token, in ascending order. */
  readSecured(after: string, limit: number): Promise<readonly string[]>
}

/** Everything that the proxy reads. */
export type ProxySource = RouteSource & TokenSeedSource & SecuredSandboxes
