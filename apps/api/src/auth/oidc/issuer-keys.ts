import { createLocalJWKSet, errors, type CryptoKey, type FlattenedJWSInput, type JWSHeaderParameters } from 'jose'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { discoverKeys } from './discover-issuer.ts'

const DEADLINE_MS = 5000
/** Tokens with unknown keys make no more requests to the provider than this. */
const REFETCH_AFTER_MS = 30_000
/** A key that the provider no longer publishes is refused after this time, and one more use. */
const STALE_AFTER_MS = 10 * 60_000

type Header = JWSHeaderParameters
type KeySet = (header: Header, token: FlattenedJWSInput) => Promise<CryptoKey>

export interface IssuerKeysOptions {
  readonly issuer: string
  readonly outbound: Outbound
  readonly log: Logger
}

/**
 * The keys with which a provider signs. They are read again when a token has an unknown key, and from time to time; while the provider does
 * not answer, the former ones are kept.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions
  #keys: KeySet | undefined
  #readAt = 0
  #refetchedAt: number | undefined
  #reading: Promise<void> | undefined

  constructor(options: IssuerKeysOptions) {
    this.#options = options
  }

  /** Reads the keys before the first token needs them. A provider that does not answer is only logged. */
  async warmUp(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    await this.#reading
  }

  /** The key of a token. @throws JOSEError when the provider has no such key, or none is known */
  async find(header: Header, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (this.#keys === undefined) await this.#refetch()
    else if (performance.now() - this.#readAt > STALE_AFTER_MS) void this.#refetch()
    const keys = this.#keys
    if (keys === undefined) throw new errors.JWKSNoMatchingKey('no keys of the issuer are known')
    try {
      return await keys(header, token)
    } catch (err) {
      if (!(err instanceof errors.JWKSNoMatchingKey)) throw err
      await this.#refetch()
      const fresh = this.#keys
      if (fresh === undefined || fresh === keys) throw err
      return await fresh(header, token)
    }
  }

  /** Reads the keys again, unless that was tried just now. */
  async #refetch(): Promise<void> {
    const isDue = this.#refetchedAt === undefined || performance.now() - this.#refetchedAt > REFETCH_AFTER_MS
    if (this.#reading === undefined && !isDue) return
    if (this.#reading === undefined) this.#refetchedAt = performance.now()
    await this.warmUp()
  }

  async #read(): Promise<void> {
    const { issuer, outbound, log } = this.#options
    try {
      this.#keys = createLocalJWKSet(await discoverKeys(outbound, issuer, AbortSignal.timeout(DEADLINE_MS)))
      this.#readAt = performance.now()
    } catch (err) {
      log.warn({ err, issuer }, 'the keys of the OpenID provider cannot be read')
    }
  }
}
