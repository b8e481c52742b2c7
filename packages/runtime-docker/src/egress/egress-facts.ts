import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { HttpProxy } from '@sandyard/kit/outbound/http-proxy'
import type { BaseRules } from './base-rules.ts'
import type { HostFacts } from './guard.ts'
import { lookupProxy } from './lookup-proxy.ts'

export interface FactSources {
  readonly log: Logger
  readonly readResolvers: () => Promise<readonly string[]>
  /** Its name is looked up again in each repair. */
  readonly companyProxy: Pick<HttpProxy, 'host' | 'port'> | undefined
}

/** What the base rules depend on and may change while the server runs: the addresses of the host, its resolvers, the company's proxy. */
export class EgressFacts {
  readonly #sources: FactSources
  #host: HostFacts = { addresses: [], hasIpv6: false, maxOpenFiles: 0 }
  #resolvers: readonly string[] = []
  #companyProxy: BaseRules['companyProxy']
  #reading: Promise<void> | undefined
  #nextReading: Promise<void> | undefined

  constructor(sources: FactSources) {
    this.#sources = sources
  }

  get host(): HostFacts {
    return this.#host
  }

  get resolvers(): readonly string[] {
    return this.#resolvers
  }

  get companyProxy(): BaseRules['companyProxy'] {
    return this.#companyProxy
  }

  /** Returns whether the host has other addresses than before. The first ones are no change. */
  learn(host: HostFacts): boolean {
    const before = this.#host.addresses.join()
    this.#host = host
    return before !== '' && before !== host.addresses.join()
  }

  /**
   * Each read starts a container, and a host may change its addresses many times in a second, as a compose project starts: calls during a read
   * share the next one.
   */
  readResolvers(): Promise<void> {
    if (this.#reading === undefined) return this.#read()
    this.#nextReading ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#nextReading = undefined
        return this.readResolvers()
      })
    return this.#nextReading
  }

  #read(): Promise<void> {
    const reading = this.#sources.readResolvers().then((resolvers) => void (this.#resolvers = resolvers))
    this.#reading = reading.finally(() => void (this.#reading = undefined))
    return this.#reading
  }

  /** The last addresses stay when the lookup fails. */
  async lookUpProxy(): Promise<void> {
    const { companyProxy, log } = this.#sources
    if (companyProxy === undefined) return
    try {
      this.#companyProxy = { addresses: await lookupProxy(companyProxy.host), port: companyProxy.port }
    } catch (err) {
      log.warn({ err }, 'the address of SANDYARD_HTTP_PROXY could not be looked up: sandboxes reach its last addresses only')
    }
  }
}
