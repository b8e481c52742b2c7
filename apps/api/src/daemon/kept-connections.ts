import { Agent } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { SandboxRef } from '@sandyard/runtime/types'

/** Bounds the descriptors. With more sandboxes, visits of those over the cap open a new connection. */
const MAX_CONNECTIONS = 2000

/** For requests to one daemon, one after another. Without keep-alive each would open a connection of its own. */
export function oneConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 })
}

/**
 * Connections that stay open between visits every few seconds, one to each start of a sandbox: a new connection costs an idle daemon as much
 * CPU as the visit itself. A later start never gets the connection of an earlier one, and neither does another sandbox with the same address.
 */
export class KeptConnections implements Disposable {
  readonly #agents = new LRUCache<string, Agent>({ max: MAX_CONNECTIONS, dispose: (agent) => agent.destroy() })

  of(ref: SandboxRef): Agent {
    const key = keyOf(ref)
    const kept = this.#agents.get(key)
    if (kept !== undefined) return kept
    const agent = oneConnection()
    this.#agents.set(key, agent)
    return agent
  }

  /** Closes the connections to all other starts: they have ended, or pause. */
  keepOnly(refs: readonly SandboxRef[]): void {
    const kept = new Set(refs.map(keyOf))
    const ended = [...this.#agents.keys()].filter((key) => !kept.has(key))
    for (const key of ended) this.#agents.delete(key)
  }

  [Symbol.dispose](): void {
    this.#agents.clear()
  }
}

function keyOf({ sandboxId, incarnation }: SandboxRef): string {
  return `${sandboxId}/${incarnation}`
}
