import { isIP } from 'node:net'
import { isAddress, isAddressOrNetwork } from '@sandyard/kit/net/addresses'

/** `0.0.0.0`, or `::` in any spelling. The network of all addresses is not unspecified. */
export function isUnspecified(text: string): boolean {
  return isAddress(text) && /^[0.:]+$/.test(text) && !/[1-9a-f]/i.test(text)
}

/** An entry of `allowOut` that is no address and no network: a domain, also when its syntax is not one. */
export function isDomain(entry: string): boolean {
  return !isAddressOrNetwork(entry)
}

/** An IPv4 address or network. */
export function isIpv4Network(entry: string): boolean {
  return isAddressOrNetwork(entry) && !entry.includes(':')
}

/** IPv4 addresses only. */
export function isIpv4(text: string): boolean {
  return isIP(text) === 4
}
