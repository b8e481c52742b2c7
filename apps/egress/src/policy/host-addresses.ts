import { BlockList } from 'node:net'
import { networkInterfaces } from 'node:os'
import { readLocalAddresses } from './local-networks.ts'

/** More than a host has. Interfaces of sandboxes have link-local addresses only. */
const MAX_ADDRESSES = 1000

/** Those that no other host sends to. */
const LOCAL = new BlockList()
LOCAL.addSubnet('127.0.0.0', 8, 'ipv4')
LOCAL.addSubnet('169.254.0.0', 16, 'ipv4')
LOCAL.addAddress('::1', 'ipv6')
LOCAL.addSubnet('fe80::', 10, 'ipv6')

/** The IPv4 and IPv6 addresses at which this host answers others, sorted. */
export function hostAddresses(): string[] {
  const running = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  const others = readLocalAddresses().filter((network) => network.endsWith('/32'))
  const all = [...running.map(({ address }) => address), ...others.map((network) => network.slice(0, -'/32'.length))]
  const outer = all.filter((address) => !LOCAL.check(address, address.includes(':') ? 'ipv6' : 'ipv4'))
  return [...new Set(outer)].sort().slice(0, MAX_ADDRESSES)
}
