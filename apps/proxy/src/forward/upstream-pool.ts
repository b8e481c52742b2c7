import { isSameRun, type LiveRoute } from '../routes/route.ts'
import { shrinkMemory } from './read-memory.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

/**
 * How long an idle connection to a daemon is kept. The daemon keeps its side for 640 s (envd.md 1.1), so it never closes one that is
 * about to be used again, unless the daemon ends; then the sandbox has ended too.
 */
const IDLE_MS = 15_000
const MAX_IDLE_PER_SANDBOX = 32
const MAX_IDLE = 2048

interface IdleConnection {
  readonly connection: UpstreamConnection
  /** The run of the sandbox that it belongs to. */
  readonly route: LiveRoute
}

/**
 * The idle connections to daemons. Each belongs to one run of a sandbox, so that none outlives it or serves another sandbox with the
 * same address. Connections to users' services are not kept, as in the upstream proxy: the proxy cannot know when such a service closes an
 * idle connection.
 */
export class UpstreamPool implements Disposable {
  /** By sandbox; the last one was used last. */
  readonly #idle = new Map<string, IdleConnection[]>()
  #count = 0
  #isClosed = false

  /** Returns an open connection to the daemon of the run, and forgets it. */
  take(route: LiveRoute): UpstreamConnection | undefined {
    const idle = this.#idle.get(route.sandboxId)
    for (let last = idle?.pop(); last !== undefined; last = idle?.pop()) {
      if (idle?.length === 0) this.#idle.delete(route.sandboxId)
      this.#count -= 1
      const { connection } = last
      if (connection.socket.writable && isSameRun(route, last.route)) return connection
      connection.destroy()
    }
    return undefined
  }

  /** Keeps a connection that serves no request; closes it when too many are kept. */
  keep(route: LiveRoute, connection: UpstreamConnection): void {
    const idle = this.#idle.get(route.sandboxId) ?? []
    if (this.#isClosed || idle.length >= MAX_IDLE_PER_SANDBOX || this.#count >= MAX_IDLE) return connection.destroy()
    if (!connection.isReused) this.#watch(route, connection)
    connection.isReused = true
    shrinkMemory(connection.socket)
    this.#idle.set(route.sandboxId, idle)
    idle.push({ connection, route })
    this.#count += 1
  }

  /** A sandbox has changed. */
  forget(sandboxId: string): void {
    for (const { connection } of this.#idle.get(sandboxId)?.splice(0) ?? []) this.#drop(connection)
    this.#idle.delete(sandboxId)
  }

  /** Any sandbox may have changed. */
  forgetAll(): void {
    for (const sandboxId of this.#idle.keys()) this.forget(sandboxId)
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.forgetAll()
  }

  #drop(connection: UpstreamConnection): void {
    this.#count -= 1
    connection.destroy()
  }

  #watch({ sandboxId }: LiveRoute, connection: UpstreamConnection): void {
    const { socket } = connection
    // Node begins this period again with each byte.
    socket.setTimeout(IDLE_MS, () => {
      if (connection.isIdle) connection.destroy()
    })
    socket.once('close', () => {
      const idle = this.#idle.get(sandboxId)
      const at = idle?.findIndex((kept) => kept.connection === connection) ?? -1
      if (at === -1) return
      idle?.splice(at, 1)
      this.#count -= 1
      if (idle?.length === 0) this.#idle.delete(sandboxId)
    })
  }
}
