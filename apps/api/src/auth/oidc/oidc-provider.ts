import { errors } from 'jose'
import type { Database } from '@sandyard/db/database'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import type { Principal } from '../principal.ts'
import { findProviderUser } from './find-user.ts'
import { IssuerKeys } from './issuer-keys.ts'
import type { OidcConfig } from './oidc-config.ts'
import { verifyToken, type VerifiedToken } from './verify-token.ts'

export interface OidcProviderParts {
  readonly config: OidcConfig
  readonly database: Database
  readonly outbound: Outbound
  readonly log: Logger
}

/** The OpenID provider whose users may send its tokens. */
export class OidcProvider {
  readonly #parts: OidcProviderParts
  readonly #keys: IssuerKeys

  constructor(parts: OidcProviderParts) {
    const { config, outbound, log } = parts
    this.#parts = parts
    this.#keys = new IssuerKeys({ issuer: config.issuer, outbound, log })
  }

  /** Reads the keys before the first token needs them. A provider that does not answer is only logged. */
  async warmUp(): Promise<void> {
    await this.#keys.warmUp()
  }

  /** The user of a token; undefined when the token is not valid, or its user has no account. */
  async findPrincipal(token: string): Promise<Principal | undefined> {
    const { config, database, log } = this.#parts
    const verified = await this.#verify(token)
    if (verified === undefined) return undefined
    const { subject, email, expiresAt } = verified
    const user = await findProviderUser(database, { issuer: config.issuer, subject, email }, config.createsUsers)
    if (user === undefined) log.info({ subject }, 'a token of the OpenID provider was refused: its user has no account')
    return user && { via: 'oidc', user, expiresAt }
  }

  async #verify(token: string): Promise<VerifiedToken | undefined> {
    try {
      return await verifyToken(token, this.#parts.config, this.#keys)
    } catch (err) {
      // The whole error has the claims of the token.
      this.#parts.log.info(
        { reason: err instanceof errors.JOSEError ? err.code : String(err) },
        'a token of the OpenID provider was refused',
      )
      return undefined
    }
  }
}
