import { isIP } from 'node:net'

/** An IPv4 or IPv6 address, without a zone. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%')
}

/** An address, or a network such as `10.0.0.0/8`. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  if (!isAddress(address) || rest.length > 0) return false
  return prefix === undefined || (/^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= (isIP(address) === 4 ? 32 : 128))
}

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
