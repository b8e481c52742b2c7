import { askResolvers, type ResolverAddress } from '../dns/ask-resolver.ts'
import { MAX_UDP_BYTES } from '../dns/query.ts'

/** Looks up the IPv4 addresses of a name, in the order of the answer. Empty when it has none. @throws when no resolver has answered */
export type ResolveName = (name: string, dnsServers: readonly string[]) => Promise<readonly string[]>

/** Lookups by the resolvers of the sandbox, or those of this host: never by what the sandbox has found out itself. */
export function nameResolver(resolversOf: (dnsServers: readonly string[]) => readonly ResolverAddress[]): ResolveName {
  return async (name, dnsServers) => {
    const query = { id: 0, name, asked: name, type: 'A', maxAnswerBytes: MAX_UDP_BYTES }
    // The caller checks the addresses, because it has to tell a closed one from none.
    const answer = await askResolvers(query, { resolvers: resolversOf(dnsServers), isClosed: () => false })
    if (answer === undefined) throw new Error('no resolver has answered')
    return (answer.answers ?? []).flatMap((record) => (record.type === 'A' ? [record.data] : []))
  }
}
