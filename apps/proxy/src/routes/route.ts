import type { SandboxState } from '@sandyard/db/schema/sandbox'

/** Where a sandbox is reached. */
interface Endpoint {
  readonly host: string
  readonly daemonPort: number
}

/** What the proxy knows of a sandbox that has a row. */
export interface Route {
  readonly sandboxId: string
  /** Pins connections to one start of the sandbox: a later start under the same id is another place. */
  readonly incarnation: number
  readonly state: SandboxState
  readonly endpoint: Endpoint | undefined
}

/** A route that traffic may take now. */
export type LiveRoute = Route & { readonly endpoint: Endpoint }

export function isLive(route: Route | undefined): route is LiveRoute {
  return route?.state === 'running' && route.endpoint !== undefined
}

/** Told of changes; each call is cheap and must not throw. */
export interface RouteWatcher {
  changed(sandboxId: string): void
  /** Changes may have been missed: at the start and after a lost connection. */
  refresh(): void
}

/** Where routes are kept: Postgres, or a map in tests. */
export interface RouteSource {
  /** The current routes of those sandboxes that have a row, by id. */
  read(sandboxIds: readonly string[]): Promise<ReadonlyMap<string, Route>>
  /** Calls `watcher` until disposed. */
  watch(watcher: RouteWatcher): AsyncDisposable
}
