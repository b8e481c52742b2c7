import { Resolver } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'

/** Looks up the IPv4 addresses of a name, in the order of the answer. Empty when it has none. @throws any other failure of the lookup */
export type ResolveName = (name: string, dnsServers: readonly string[]) => Promise<readonly string[]>

const TIMEOUT_MS = 2000
const TRIES = 3
const MAX_RESOLVERS = 1000

export interface ResolverOptions {
  /** The resolvers of sandboxes without their own: addresses with a port or without. Those of this host when empty. */
  readonly defaults: readonly string[]
  /** Whether a resolver of a sandbox may be asked. */
  readonly isClosed: (address: string) => boolean
  /** The port of the resolvers of sandboxes. Default: 53. */
  readonly port?: number
}

/** Lookups by the resolvers of the sandbox, or those of this host: never by what the sandbox has found out itself. */
export function nameResolver({ defaults, isClosed, port = 53 }: ResolverOptions): ResolveName {
  const kept = new LRUCache<string, Resolver>({ max: MAX_RESOLVERS })
  return async (name, dnsServers) => {
    const servers =
      dnsServers.length === 0 ? defaults : dnsServers.filter((server) => !isClosed(server)).map((server) => `${server}:${port}`)
    if (dnsServers.length > 0 && servers.length === 0) throw new Error('every resolver of the sandbox is closed to it')
    const key = servers.join()
    const resolver = kept.get(key) ?? new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
    if (!kept.has(key)) {
      if (servers.length > 0) resolver.setServers(servers)
      kept.set(key, resolver)
    }
    try {
      return await resolver.resolve4(name)
    } catch (err) {
      const { code } = err as NodeJS.ErrnoException
      if (code === 'ENOTFOUND' || code === 'ENODATA') return []
      throw err
    }
  }
}
