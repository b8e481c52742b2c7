import ipaddr from 'ipaddr.js'

/** Providers assign networks of 64 bits to a client. */
const IPV6_PREFIX_BYTES = 8

/** The key by which requests of a client are counted: its IPv4 address, or its IPv6 network of 64 bits. */
export function clientKey(ip: string): string {
  try {
    const address = ipaddr.process(ip)
    return address.kind() === 'ipv4'
      ? address.toString()
      : `${Buffer.from(address.toByteArray().slice(0, IPV6_PREFIX_BYTES)).toString('hex')}/64`
  } catch {
    return ip
  }
}

/** Whether a text is an address, or a network as `10.0.0.0/8`. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  try {
    const maxBits = ipaddr.parse(address).kind() === 'ipv4' ? 32 : 128
    return rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits))
  } catch {
    return false
  }
}
