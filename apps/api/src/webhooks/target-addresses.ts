import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isAddressOrNetwork } from '@sandyard/kit/net/addresses'
import { ALWAYS_CLOSED, PRIVATE_NETWORKS } from '@sandyard/kit/net/closed-networks'

/** Metadata services, groups of hosts and addresses without a host: no setting opens them. */
const NEVER: readonly string[] = [
  '0.0.0.0/8',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  'fd00:ec2::254/128',
  'fe80::/10',
  'ff00::/8',
]
/** Addresses of IPv6 that reach hosts of IPv4, or have a special meaning. */
const CLOSED_IPV6: readonly string[] = ['2001::/23', '2002::/16']
const PUBLIC_IPV6: readonly string[] = ['2000::/3']

/**
 * Which addresses a delivery may connect to: public ones, and what the operator has opened. The addresses of this server and of the engine's host are not public, because their
 * services take connections from itself for trusted ones.
 */
export class TargetAddresses {
  readonly #never = listOf(NEVER)
  readonly #opened: BlockList
  readonly #denied: BlockList
  #ofHost = listOf([])
  readonly #closed = listOf([...ALWAYS_CLOSED, ...PRIVATE_NETWORKS, ...CLOSED_IPV6])
  readonly #publicIpv6 = listOf(PUBLIC_IPV6)

  /** @param opened addresses and networks @param denied those that stay closed, public or opened */
  constructor(opened: readonly string[], denied: readonly string[] = []) {
    this.#opened = listOf(opened)
    this.#denied = listOf(denied)
  }

  /** Sets the addresses of the engine's host, whose network this server may not be in. They are closed like those of this server. */
  setHost(addresses: readonly string[]): void {
    this.#ofHost = listOf(addresses.filter((address) => isAddressOrNetwork(address)))
  }

  /** @param address of IPv4 or IPv6, without brackets; false for other text */
  isOpen(address: string): boolean {
    const version = isIP(address)
    if (version === 0) return false
    const family = version === 4 ? 'ipv4' : 'ipv6'
    if (this.#never.check(address, family) || this.#denied.check(address, family)) return false
    if (this.#opened.check(address, family)) return true
    if (this.#closed.check(address, family) || this.#ofHost.check(address, family) || isOwn(address, family)) return false
    return version === 4 || this.#publicIpv6.check(address, 'ipv6')
  }
}

function isOwn(address: string, family: 'ipv4' | 'ipv6'): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return listOf(own.map((entry) => entry.address)).check(address, family)
}

function listOf(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/')
    const [bits, family] = isIP(address) === 4 ? ([32, 'ipv4'] as const) : ([128, 'ipv6'] as const)
    list.addSubnet(address, prefix === undefined ? bits : Number(prefix), family)
  }
  return list
}
