import { BlockList, isIP } from 'node:net'

/** Never reachable from a sandbox (control-plane.md 18.4), and what leads to the host itself or to many hosts. */
const INTERNAL = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
] as const) {
  INTERNAL.addSubnet(network, prefix)
}
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  INTERNAL.addSubnet(network, prefix, 'ipv6')
}

/** @param address - IPv4 or IPv6; one of IPv4 in IPv6 counts as the IPv4 address */
export function isInternal(address: string): boolean {
  return INTERNAL.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}
