import type { Logger } from '@sandyard/kit/logging/create-logger'
import { Quota, type Refusal } from '@sandyard/kit/limits/quota'
import type { RouteReader } from './route-reader.ts'
import { isSameRun, type LiveRoute } from './route.ts'

/** The sandbox has ended, or the proxy stops. */
export type ResetReason = 'not_found' | 'unavailable'

/** One open exchange or upgraded connection. */
export interface TrackedConnection {
  readonly route: LiveRoute
  /** The client that it counts for, or undefined when only the sandbox counts it. */
  readonly client: string | undefined
  /** Breaks the connection at once; the reason is for a client without an answer. Called at most once, never after `close`. */
  readonly reset: (reason: ResetReason) => void
}

export interface TrackerOptions {
  /** The cap for each sandbox. */
  readonly maxConnections: number
  /** The cap for each client of a sandbox. */
  readonly maxClientConnections: number
  readonly log: Logger
}

interface OpenConnections {
  readonly quota: Quota
  readonly connections: Set<TrackedConnection>
}

/**
 * The open connections of each sandbox. A connection belongs to one run of the sandbox. When the row shows that this run has ended,
 * the connection is reset, even if it is idle and the sandbox closed nothing. A pause ends a run when it begins, because a frozen
 * sandbox closes nothing and answers nothing; if the pause fails, clients connect again.
 */
export class ConnectionTracker {
  readonly #reader: RouteReader
  readonly #options: TrackerOptions
  readonly #bySandbox = new Map<string, OpenConnections>()
  #count = 0

  constructor(reader: RouteReader, options: TrackerOptions) {
    this.#reader = reader
    this.#options = options
  }

  get count(): number {
    return this.#count
  }

  has(sandboxId: string): boolean {
    return this.#bySandbox.has(sandboxId)
  }

  /** Adds a connection, or returns the refusal of its sandbox (`all`) or its client (`one`). */
  open(connection: TrackedConnection): Refusal | undefined {
    const { maxConnections, maxClientConnections } = this.#options
    const { sandboxId } = connection.route
    const open = this.#bySandbox.get(sandboxId) ?? {
      quota: new Quota({ all: maxConnections, one: maxClientConnections }),
      connections: new Set(),
    }
    const refusal = open.quota.take(connection.client)
    if (refusal !== undefined) return refusal
    open.connections.add(connection)
    this.#bySandbox.set(sandboxId, open)
    this.#count += 1
    return undefined
  }

  /** Removes a connection that has ended. Safe to repeat. */
  close(connection: TrackedConnection): void {
    const { client, route } = connection
    const { sandboxId } = route
    const open = this.#bySandbox.get(sandboxId)
    if (open?.connections.delete(connection) !== true) return
    open.quota.release(client)
    this.#count -= 1
    if (open.connections.size === 0) this.#bySandbox.delete(sandboxId)
  }

  /** Resets the connections whose sandbox no longer runs, of the given sandboxes or of all. */
  async recheck(sandboxIds: readonly string[] = [...this.#bySandbox.keys()]): Promise<void> {
    const open = sandboxIds.filter((id) => this.#bySandbox.has(id))
    if (open.length === 0) return
    // Connections that open later have read a route that is at least as new as this read.
    const connections = open.flatMap((id) => [...(this.#bySandbox.get(id)?.connections ?? [])])
    const routes = await this.#reader.readMany(open)
    const gone = connections.filter(({ route }) => !isSameRun(routes.get(route.sandboxId), route))
    if (gone.length > 0)
      this.#options.log.debug(
        { sandboxIds: [...new Set(gone.map(({ route }) => route.sandboxId))], connections: gone.length },
        'connections reset',
      )
    this.#reset(gone, 'not_found')
  }

  resetAll(): void {
    this.#reset(
      [...this.#bySandbox.values()].flatMap(({ connections }) => [...connections]),
      'unavailable',
    )
  }

  #reset(connections: readonly TrackedConnection[], reason: ResetReason): void {
    for (const connection of connections) {
      const isOpen = this.#bySandbox.get(connection.route.sandboxId)?.connections.has(connection) === true
      if (!isOpen) continue
      this.close(connection)
      connection.reset(reason)
    }
  }
}
