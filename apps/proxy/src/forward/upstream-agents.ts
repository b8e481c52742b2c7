import { Agent, type ClientRequest, type ClientRequestArgs } from 'node:http'
import type { Duplex } from 'node:stream'
import type { LiveRoute } from '../routes/route.ts'

/**
 * How long an idle connection to a daemon is kept. The daemon keeps its side for 640 s (envd.md 1.1), so it never closes one that is
 * about to be used again, unless the daemon ends; then the sandbox has ended too.
 */
const IDLE_MS = 15_000
const MAX_IDLE_PER_SANDBOX = 32
const MAX_IDLE = 2048

interface PooledArgs extends ClientRequestArgs {
  /** Identifies the run of a sandbox that an idle connection belongs to. */
  readonly poolKey?: string
}

/** Separates connections by the run of a sandbox, so that none outlives it or serves another sandbox with the same address. */
class DaemonAgent extends Agent {
  override getName(options?: PooledArgs): string {
    return options?.poolKey ?? ''
  }

  readonly #idle = new Set<Duplex>()
  /** Connections that have been idle before. */
  readonly #known = new WeakSet<Duplex>()

  /** Called by Node when a connection becomes idle; a connection over the cap is closed. */
  override keepSocketAlive(socket: Duplex): boolean {
    const keeps: unknown = super.keepSocketAlive(socket)
    if (keeps !== true || this.#idle.size >= MAX_IDLE) return false
    this.#idle.add(socket)
    if (!this.#known.has(socket)) socket.once('close', () => this.#idle.delete(socket))
    this.#known.add(socket)
    return true
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    this.#idle.delete(socket)
    super.reuseSocket(socket, request)
  }

  closeIdle(isClosed: (poolKey: string) => boolean): void {
    for (const [key, sockets] of Object.entries(this.freeSockets)) {
      if (isClosed(key)) for (const socket of sockets ?? []) socket.destroy()
    }
  }
}

/**
 * The connections to sandboxes. Connections to daemons are reused. Connections to users' services are not, as in the upstream
 * proxy: the proxy cannot know when such a service closes an idle connection.
 */
export class UpstreamAgents {
  readonly #daemon = new DaemonAgent({ keepAlive: true, maxFreeSockets: MAX_IDLE_PER_SANDBOX, timeout: IDLE_MS, scheduling: 'lifo' })
  /** A new connection for each request. */
  readonly fresh = new Agent({ keepAlive: false })

  /** The options of a request that may use an idle connection to the daemon of `route`. */
  daemonOptions(route: LiveRoute): { agent: Agent; poolKey: string } {
    return { agent: this.#daemon, poolKey: `${route.sandboxId}/${route.incarnation}/${String(route.startedAt)}` }
  }

  forget(sandboxId: string): void {
    this.#daemon.closeIdle((key) => key.startsWith(`${sandboxId}/`))
  }

  forgetAll(): void {
    this.#daemon.closeIdle(() => true)
  }

  [Symbol.dispose](): void {
    this.#daemon.destroy()
    this.fresh.destroy()
  }
}
