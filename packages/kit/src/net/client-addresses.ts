import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP, isIPv6, type Socket } from 'node:net'

/** Of a request. */
interface Head {
  readonly socket: Socket
  readonly headers: IncomingHttpHeaders
}

/** Identifies clients by their address; behind a trusted front, by the address that the front saw. */
export class ClientAddresses {
  readonly #fronts = new BlockList()
  /** What `ofSocket` has found. */
  readonly #known = new WeakMap<Socket, { readonly client: string | undefined }>()

  /**
   * @param fronts addresses and networks, such as `10.0.0.0/8`
   * @throws when one of them is neither
   */
  constructor(fronts: readonly string[]) {
    for (const front of fronts) {
      const [address = '', bits] = front.split('/')
      const family = isIPv6(address) ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#fronts.addAddress(address, family)
      else this.#fronts.addSubnet(address, Number(bits), family)
    }
  }

  /** The client that a connection counts for, or undefined when it is a front. */
  ofSocket(socket: Socket): string | undefined {
    let known = this.#known.get(socket)
    if (known === undefined) {
      const { remoteAddress = '' } = socket
      known = { client: this.#isFront(remoteAddress) ? undefined : clientKey(remoteAddress) }
      this.#known.set(socket, known)
    }
    return known.client
  }

  /** The client that a request counts for: behind a front the last forwarded address, the only one that the front itself wrote. */
  ofRequest({ socket, headers }: Head): string | undefined {
    const own = this.ofSocket(socket)
    if (own !== undefined) return own
    const forwarded = String(headers['x-forwarded-for'] ?? '')
    const last = forwarded.slice(forwarded.lastIndexOf(',') + 1).trim()
    return isIP(last) === 0 ? undefined : clientKey(last)
  }

  #isFront(address: string): boolean {
    return address !== '' && this.#fronts.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  }
}

/** One client is an IPv4 address, or an IPv6 network of 64 bits, because the owner of one such address owns the whole network. A connection that was reset has no address any more. */
export function clientKey(address = ''): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.toLowerCase().replace(/%.*$/, '').split('::')
  const before = head === '' ? [] : head.split(':')
  const behind = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - before.length - behind.length) }, () => '0')
  return [...before, ...zeros, ...behind].slice(0, 4).join(':')
}
