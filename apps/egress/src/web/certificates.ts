import { createSecureContext, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { SandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import type { RateLimit } from '../connections/rate-limit.ts'
import type { Secret } from '@sandyard/kit/config/secret'

const MAX_KEPT = 1000
/** Less than a certificate is valid. */
const MAX_AGE_MS = 86_400_000

/** The certificates with which the gateway answers for servers, made on demand by the authority of each sandbox. */
export class Certificates {
  readonly #readSeed: () => Promise<Secret>
  readonly #rate: RateLimit
  readonly #authorities = new LRUCache<string, SandboxAuthority>({ max: MAX_KEPT })
  readonly #contexts = new LRUCache<string, SecureContext>({ max: MAX_KEPT, ttl: MAX_AGE_MS })

  /** @param rate - of the certificates of one sandbox: a wildcard matches any number of names */
  constructor(readSeed: () => Promise<Secret>, rate: RateLimit) {
    this.#readSeed = readSeed
    this.#rate = rate
  }

  /**
   * Undefined when the sandbox has asked for too many names.
   *
   * @throws any error of the read of the seed
   */
  async find(sandboxId: string, name: string): Promise<SecureContext | undefined> {
    const key = `${sandboxId} ${name}`
    const known = this.#contexts.get(key)
    if (known !== undefined) return known
    if (!this.#rate.take(sandboxId)) return undefined
    // Most gateways never make one, and these libraries are a fifth of what the start would load.
    const [{ leafFor }, { sandboxAuthority }] = await Promise.all([
      import('@sandyard/egress-ca/leaf-for'),
      import('@sandyard/egress-ca/sandbox-authority'),
    ])
    const seed = await this.#readSeed()
    const authority = this.#authorities.get(sandboxId) ?? sandboxAuthority(seed, sandboxId)
    this.#authorities.set(sandboxId, authority)
    const { certificatePem, privateKeyPem } = leafFor(authority, name)
    const context = createSecureContext({ cert: certificatePem, key: privateKeyPem.reveal(), minVersion: 'TLSv1.2' })
    this.#contexts.set(key, context)
    return context
  }
}
