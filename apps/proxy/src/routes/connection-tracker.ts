import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { RouteReader } from './route-reader.ts'
import { isSameRun, type LiveRoute } from './route.ts'

/** The sandbox has ended, or the proxy stops. */
export type ResetReason = 'not_found' | 'unavailable'

/** One open exchange or upgraded connection. */
export interface TrackedConnection {
  readonly route: LiveRoute
  /** Breaks the connection at once; the reason is for a client without an answer. Called at most once, never after `close`. */
  readonly reset: (reason: ResetReason) => void
}

export interface TrackerOptions {
  /** The cap for each sandbox. */
  readonly maxConnections: number
  readonly log: Logger
}

/**
 * The open connections of each sandbox. A connection belongs to one run of the sandbox. When the row shows that this run has ended,
 * the connection is reset, even if it is idle and the sandbox closed nothing. A pause ends a run when it begins, because a frozen
 * sandbox closes nothing and answers nothing; if the pause fails, clients connect again.
 */
export class ConnectionTracker {
  readonly maxConnections: number
  readonly #reader: RouteReader
  readonly #log: Logger
  readonly #bySandbox = new Map<string, Set<TrackedConnection>>()
  #count = 0

  constructor(reader: RouteReader, { maxConnections, log }: TrackerOptions) {
    this.#reader = reader
    this.maxConnections = maxConnections
    this.#log = log
  }

  get count(): number {
    return this.#count
  }

  has(sandboxId: string): boolean {
    return this.#bySandbox.has(sandboxId)
  }

  /** False when the sandbox has reached its cap of connections. */
  open(connection: TrackedConnection): boolean {
    const { sandboxId } = connection.route
    const open = this.#bySandbox.get(sandboxId) ?? new Set()
    if (open.size >= this.maxConnections) return false
    this.#bySandbox.set(sandboxId, open.add(connection))
    this.#count += 1
    return true
  }

  /** Removes a connection that has ended. Safe to repeat. */
  close(connection: TrackedConnection): void {
    const { sandboxId } = connection.route
    const open = this.#bySandbox.get(sandboxId)
    if (open?.delete(connection) !== true) return
    this.#count -= 1
    if (open.size === 0) this.#bySandbox.delete(sandboxId)
  }

  /** Resets the connections whose sandbox no longer runs, of the given sandboxes or of all. */
  async recheck(sandboxIds: readonly string[] = [...this.#bySandbox.keys()]): Promise<void> {
    const open = sandboxIds.filter((id) => this.#bySandbox.has(id))
    if (open.length === 0) return
    // Connections that open later have read a route that is at least as new as this read.
    const connections = open.flatMap((id) => [...(this.#bySandbox.get(id) ?? [])])
    const routes = await this.#reader.readMany(open)
    const gone = connections.filter(({ route }) => !isSameRun(routes.get(route.sandboxId), route))
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
