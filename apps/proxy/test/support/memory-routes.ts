import { Secret } from '@sandyard/kit/config/secret'
import type { SandboxWatcher } from '@sandyard/db/rows/watch-sandboxes'
import type { ProxySource, Route } from '../../src/routes/route.ts'

export const TOKEN_SEED = new Secret('5'.repeat(64))

/** A row as a test writes it: of a sandbox with public ports that traffic does not wake, unless it says otherwise. */
export type Row = Pick<Route, 'sandboxId' | 'incarnation' | 'state' | 'endpoint'> & Partial<Route>

const DEFAULTS = { teamId: 'team', startedAt: 1, isSecure: false, isPublic: true, maskHost: undefined, httpsPorts: [], wakes: false }

/** Routes in a map; every change is announced at once, unless `isSilent`. */
export class MemoryRoutes implements ProxySource {
  readonly #rows = new Map<string, Route>()
  readonly #watchers = new Set<SandboxWatcher>()
  /** Announces no changes, as if the notifications were lost. */
  isSilent = false
  securedReads = 0
  readonly #reads = new Map<string, number>()

  put(row: Row): void {
    const route = { ...DEFAULTS, ...row }
    this.#rows.set(route.sandboxId, route)
    this.#announce(route.sandboxId)
  }

  /** Puts the route of a sandbox that runs at its first start. */
  run(sandboxId: string, daemonPort: number, host = '127.0.0.1'): void {
    this.put({ sandboxId, incarnation: 1, state: 'running', endpoint: { host, daemonPort } })
  }

  remove(sandboxId: string): void {
    this.#rows.delete(sandboxId)
    this.#announce(sandboxId)
  }

  readsOf(sandboxId: string): number {
    return this.#reads.get(sandboxId) ?? 0
  }

  refresh(): void {
    for (const watcher of this.#watchers) watcher.refresh()
  }

  read(sandboxIds: readonly string[]): Promise<Map<string, Route>> {
    for (const id of sandboxIds) this.#reads.set(id, this.readsOf(id) + 1)
    const rows = sandboxIds.map((id) => this.#rows.get(id)).filter((row) => row !== undefined)
    return Promise.resolve(new Map(rows.map((row) => [row.sandboxId, row])))
  }

  /** All sandboxes have a token. */
  readSecured(after: string, limit: number): Promise<string[]> {
    this.securedReads += 1
    const ids = [...this.#rows.keys()].filter((id) => id > after).toSorted()
    return Promise.resolve(ids.slice(0, limit))
  }

  readTokenSeed(): Promise<Secret> {
    return Promise.resolve(TOKEN_SEED)
  }

  watch(watcher: SandboxWatcher): AsyncDisposable {
    this.#watchers.add(watcher)
    return { [Symbol.asyncDispose]: () => Promise.resolve(void this.#watchers.delete(watcher)) }
  }

  #announce(sandboxId: string): void {
    if (!this.isSilent) for (const watcher of this.#watchers) watcher.changed(sandboxId)
  }
}
