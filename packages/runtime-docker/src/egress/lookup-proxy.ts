import { lookup } from 'node:dns/promises'
import { BlockList } from 'node:net'
import { within } from '@sandyard/kit/async/within'

const TIMEOUT_MS = 5000
const MAX_ADDRESSES = 32
/** Never a proxy for sandboxes: the sandbox itself, metadata services, and what is not one machine. */
const NEVER = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
] as const) {
  NEVER.addSubnet(network, prefix)
}

/**
 * The IPv4 addresses of a proxy, sorted. An address is its own.
 *
 * @throws Error without any
 */
export async function lookupProxy(host: string): Promise<readonly string[]> {
  const what = 'the lookup of the proxy'
  const found = await within({ what, timeoutMs: TIMEOUT_MS }, () => lookup(host, { family: 4, all: true }))
  const addresses = found.map(({ address }) => address).filter((address) => !NEVER.check(address))
  if (addresses.length === 0) throw new Error(`${host} has no address that sandboxes may reach`)
  return [...new Set(addresses)].sort().slice(0, MAX_ADDRESSES)
}
