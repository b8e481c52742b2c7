import { isIPv4 } from 'node:net'
import { ALWAYS_CLOSED, PRIVATE_NETWORKS } from '@sandyard/kit/net/closed-networks'
import { NetworkSet } from './network-set.ts'

export interface ClosedNetworks {
  /** The control plane's networks. */
  readonly control: readonly string[]
  /** Private networks that the operator has opened. */
  readonly opened: readonly string[]
  /** The addresses of this host and the network of the sandboxes, as they are now. */
  readonly local: () => readonly string[]
}

/** What no policy opens (control-plane.md 18.4, and the list of the packet rules). */
export interface ClosedAddresses {
  /** @param port - without it, whether the address is closed at every port */
  isClosed(address: string, port?: number): boolean
}

/** Closed are, in this order: the networks of every installation, the host and the control plane; then private networks that are not opened. */
export function closedAddresses({ control, opened, local }: ClosedNetworks): ClosedAddresses {
  const closed = new NetworkSet([...ALWAYS_CLOSED, ...control])
  const open = new NetworkSet(opened)
  const closedUnlessOpened = new NetworkSet(PRIVATE_NETWORKS)
  let known: readonly string[] = []
  let own = new NetworkSet([])
  return {
    isClosed: (address) => {
      if (!isIPv4(address)) return true
      const current = local()
      if (current !== known) {
        known = current
        own = new NetworkSet(current)
      }
      if (closed.has(address) || own.has(address)) return true
      return !open.has(address) && closedUnlessOpened.has(address)
    },
  }
}
