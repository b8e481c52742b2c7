import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { LiveRoute, Route, RouteSource } from './route.ts'

/** The sandbox is gone, or the proxy stops. */
export type ResetReason = 'not_found' | 'unavailable'

/** One open exchange or upgraded connection. */
export interface TrackedConnection {
  readonly route: LiveRoute
  /** Ends it at once and without a clean end; the reason is for a client without an answer. Called at most once, never after `close`. */
  readonly reset: (reason: ResetReason) => void
}

/**
 * The open connections of each sandbox. A connection lives only as long as the start of the sandbox that it was made to: once
 * the row says otherwise, it is reset, also when nothing moves on it and its sandbox vanished without a packet.
 */
export class ConnectionTracker {
  readonly #source: RouteSource
  readonly #log: Logger
  readonly #bySandbox = new Map<string, Set<TrackedConnection>>()
  #count = 0

  constructor(source: RouteSource, log: Logger) {
    this.#source = source
    this.#log = log
  }

  get count(): number {
    return this.#count
  }

  has(sandboxId: string): boolean {
    return this.#bySandbox.has(sandboxId)
  }

  open(connection: TrackedConnection): void {
    const { sandboxId } = connection.route
    const open = this.#bySandbox.get(sandboxId)
    if (open === undefined) this.#bySandbox.set(sandboxId, new Set([connection]))
    else open.add(connection)
    this.#count += 1
  }

  /** Forgets a connection that ended. Safe to repeat. */
  close(connection: TrackedConnection): void {
    const { sandboxId } = connection.route
    const open = this.#bySandbox.get(sandboxId)
    if (open?.delete(connection) !== true) return
    this.#count -= 1
    if (open.size === 0) this.#bySandbox.delete(sandboxId)
  }

  /** Resets the connections whose sandbox does not run any more, of one sandbox or of all. */
  async recheck(sandboxIds: readonly string[] = [...this.#bySandbox.keys()]): Promise<void> {
    const open = sandboxIds.filter((id) => this.#bySandbox.has(id))
    if (open.length === 0) return
    // Connections that open from here on have read a route that is at least as new as this read.
    const connections = open.flatMap((id) => [...(this.#bySandbox.get(id) ?? [])])
    const routes = await this.#source.read(open)
    const gone = connections.filter(({ route }) => !mayStayOpen(routes.get(route.sandboxId), route))
    if (gone.length > 0)
      this.#log.debug({ sandboxIds: [...new Set(gone.map(({ route }) => route.sandboxId))], connections: gone.length }, 'connections reset')
    this.#reset(gone, 'not_found')
  }

  resetAll(): void {
    this.#reset(
      [...this.#bySandbox.values()].flatMap((open) => [...open]),
      'unavailable',
    )
  }

  #reset(connections: readonly TrackedConnection[], reason: ResetReason): void {
    for (const connection of connections) {
      const isOpen = this.#bySandbox.get(connection.route.sandboxId)?.has(connection) === true
      if (!isOpen) continue
      this.close(connection)
      connection.reset(reason)
    }
  }
}

/** A snapshot holds new requests back but leaves the sandbox and its connections as they are. */
function mayStayOpen(current: Route | undefined, pinned: LiveRoute): boolean {
  return (
    current !== undefined && current.incarnation === pinned.incarnation && (current.state === 'running' || current.state === 'snapshotting')
  )
}
