import { lookup } from 'node:dns/promises'
import { isIPv4 } from 'node:net'
import { within } from '@sandyard/kit/async/within'
import type { HttpProxy } from '@sandyard/kit/outbound/http-proxy'
import type { ResolveName } from '../dial/resolve-name.ts'
import type { ClosedAddresses } from './closed-addresses.ts'

const TIMEOUT_MS = 5000
/** Of one lookup. */
const MAX_ADDRESSES = 64
/** How long an address is closed after the last lookup that had it: the answers of some names take turns. */
const KEPT_MS = 3_600_000

type Place = Pick<HttpProxy, 'host' | 'port'>

/**
 * The addresses of the company's proxy (`SANDYARD_HTTP_PROXY`), which connects to whatever it is asked for. The packet rules open it to sandboxes that
 * deny nothing; no connection of those comes to the gateway.
 */
export class CompanyProxy {
  readonly #proxy: Place | undefined
  readonly #resolve: ResolveName
  /** With the time of the last lookup that had the address. */
  readonly #seen = new Map<string, number>()

  constructor(proxy: Place | undefined, resolve: ResolveName) {
    this.#proxy = proxy
    this.#resolve = resolve
    if (proxy !== undefined && isIPv4(proxy.host)) this.#seen.set(proxy.host, Infinity)
  }

  isAt(address: string, port: number): boolean {
    return port === this.#proxy?.port && this.#seen.has(address)
  }

  /**
   * Looks up the name of the proxy, by this host and by the resolvers of sandboxes, whose answers may differ. An address needs no lookup.
   *
   * @throws when both fail; the known addresses stay then
   */
  async refresh(now = performance.now()): Promise<void> {
    const proxy = this.#proxy
    if (proxy === undefined || isIPv4(proxy.host)) return
    const { host } = proxy
    const lookups = [this.#resolve(host, []), lookup(host, { family: 4, all: true }).then((all) => all.map(({ address }) => address))]
    const what = 'the lookup of the proxy'
    const found = await Promise.allSettled(lookups.map((one) => within({ what, timeoutMs: TIMEOUT_MS }, () => one)))
    const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    if (addresses.length === 0) throw new Error(`${host} has no address`)
    for (const address of addresses.slice(0, MAX_ADDRESSES)) this.#seen.set(address, now)
    for (const [address, at] of this.#seen) if (now - at > KEPT_MS) this.#seen.delete(address)
  }
}

/** `closed`, and the company's proxy at its port. */
export function closedWithProxy(closed: ClosedAddresses, proxy: CompanyProxy): ClosedAddresses {
  return { isClosed: (address, port) => closed.isClosed(address, port) || (port !== undefined && proxy.isAt(address, port)) }
}
