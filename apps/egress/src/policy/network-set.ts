import { BlockList, isIPv4 } from 'node:net'

/** A set of IPv4 addresses and networks. Other entries are ignored: sandboxes have no IPv6. */
export class NetworkSet {
  readonly #list = new BlockList()

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [address = '', prefix = '32'] = entry.split('/')
      if (isIPv4(address)) this.#list.addSubnet(address, Number(prefix))
    }
  }

  has(address: string): boolean {
    return this.#list.check(address, 'ipv4')
  }
}
