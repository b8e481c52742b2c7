import { LRUCache } from 'lru-cache'
import type { IdentityKey } from '@sandyard/egress-ca/identity-key'
import { IDENTITY_TOKEN_SECONDS, identityToken } from '@sandyard/egress-ca/identity-token'
import { loadOnce } from '@sandyard/kit/async/load-once'
import type { Secret } from '@sandyard/kit/config/secret'
import type { EgressSandbox } from '../sandboxes/sandbox.ts'

const MAX_KEPT = 10_000
/** A token in use is valid for this long at least. */
const LEAST_LEFT_MS = 60_000

/** The identity tokens of sandboxes, signed on demand and used again while they are valid long enough. */
export class IdentityTokens {
  readonly #loadKey: () => Promise<IdentityKey>
  readonly #readIssuer: () => Promise<string>
  /** Requests that need the same token share its making, which reads the database. */
  readonly #making = new Map<string, Promise<Secret>>()
  readonly #tokens = new LRUCache<string, Secret>({ max: MAX_KEPT, ttl: IDENTITY_TOKEN_SECONDS * 1000 - LEAST_LEFT_MS })

  constructor(readSeed: () => Promise<Secret>, readIssuer: () => Promise<string>) {
    this.#loadKey = loadOnce(async () => {
      const { identityKey } = await import('@sandyard/egress-ca/identity-key')
      return identityKey(await readSeed())
    })
    this.#readIssuer = readIssuer
  }

  /**
   * Undefined when the sandbox declares no token with this name.
   *
   * @throws any error of the database
   */
  async find({ sandboxId, teamId, identityTokens }: EgressSandbox, name: string): Promise<Secret | undefined> {
    const audience = identityTokens.get(name)
    if (audience === undefined) return undefined
    const key = JSON.stringify([teamId, sandboxId, audience])
    const known = this.#tokens.get(key)
    if (known !== undefined) return known
    const making = this.#making.get(key) ?? this.#make(key, { teamId, sandboxId, audience }).finally(() => this.#making.delete(key))
    this.#making.set(key, making)
    return making
  }

  async #make(key: string, claims: Pick<EgressSandbox, 'sandboxId' | 'teamId'> & { readonly audience: string }): Promise<Secret> {
    const [signer, issuer] = await Promise.all([this.#loadKey(), this.#readIssuer()])
    const token = identityToken(signer, { ...claims, issuer, now: Math.floor(Date.now() / 1000) })
    this.#tokens.set(key, token)
    return token
  }
}
