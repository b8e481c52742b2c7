import { Agent, type ClientRequestArgs } from 'node:http'
import type { LiveRoute } from '../routes/route.ts'

/**
 * How long an unused connection to a daemon is kept. The daemon keeps its side 640 s (envd.md 1.1), so it never closes one that is
 * about to be used again; only its end does, and then there is no sandbox to answer either.
 */
const IDLE_MS = 15_000
const MAX_IDLE_PER_SANDBOX = 32

interface PooledArgs extends ClientRequestArgs {
  /** Names the start of a sandbox that a kept connection belongs to. */
  readonly poolKey?: string
}

/** Keeps connections apart by the start of a sandbox, so that none outlives it or serves another that got its address. */
class DaemonAgent extends Agent {
  override getName(options?: PooledArgs): string {
    return options?.poolKey ?? ''
  }

  closeIdle(isClosed: (poolKey: string) => boolean): void {
    for (const [key, sockets] of Object.entries(this.freeSockets)) {
      if (isClosed(key)) for (const socket of sockets ?? []) socket.destroy()
    }
  }
}

/**
 * The connections to sandboxes. Those to daemons are used again; those to users' services are not, as upstream does: nothing is
 * known of when such a service closes an idle connection.
 */
export class UpstreamAgents {
  readonly #daemon = new DaemonAgent({ keepAlive: true, maxFreeSockets: MAX_IDLE_PER_SANDBOX, timeout: IDLE_MS, scheduling: 'lifo' })
  /** One connection for one request. */
  readonly fresh = new Agent({ keepAlive: false })

  /** The options of a request that may use a kept connection to the daemon of `route`. */
  daemonOptions(route: LiveRoute): { agent: Agent; poolKey: string } {
    return { agent: this.#daemon, poolKey: `${route.sandboxId}/${route.incarnation}` }
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
