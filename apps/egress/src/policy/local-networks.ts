import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { parseLocalAddresses } from './local-addresses.ts'

/** A host with a thousand sandboxes has as many interfaces, so they are not listed for each connection. */
const MAX_AGE_MS = 2000

/** Lists the IPv4 addresses of this host, and the whole network of the interface with the address of the gateway. The list is the same array until it changes. */
export function localNetworks(gatewayHost: () => string | undefined): () => readonly string[] {
  let networks: readonly string[] = []
  let gateway: string | undefined
  let readAt = -Infinity
  return () => {
    const host = gatewayHost()
    if (performance.now() - readAt < MAX_AGE_MS && gateway === host) return networks
    gateway = host
    readAt = performance.now()
    const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
    const running = addresses
      .filter(({ family }) => family === 'IPv4')
      .map(({ address, cidr }) => (address === host ? (cidr ?? address) : address))
    const current = [...running, ...readLocalAddresses()]
    if (current.join() !== networks.join()) networks = current
    return networks
  }
}

/** The IPv4 networks of this host. Node lists running interfaces only, but the host answers at the addresses of the others too. */
export function readLocalAddresses(): string[] {
  try {
    return parseLocalAddresses(readFileSync('/proc/net/fib_trie', 'latin1'))
  } catch {
    return []
  }
}
