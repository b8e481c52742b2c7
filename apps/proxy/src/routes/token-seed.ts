import type { Secret } from '@sandyard/kit/config/secret'
import { sandboxTunnelSecret } from '@sandyard/db/sandbox-token'
import type { TokenSeedSource } from './route.ts'

/** The seed of the installation's tokens. It is read on first use, once for concurrent calls, and cached, because it never changes. */
export class TokenSeed {
  readonly #source: TokenSeedSource
  #seed: Promise<Secret> | undefined

  constructor(source: TokenSeedSource) {
    this.#source = source
  }

  /** @throws any error of the source; the next call reads again */
  read(): Promise<Secret> {
    this.#seed ??= this.#source.readTokenSeed().catch((err: unknown) => {
      this.#seed = undefined
      throw err
    })
    return this.#seed
  }

  /** The secret that the daemon of a sandbox requires for a tunnel. */
  async tunnelSecret(sandboxId: string): Promise<string> {
    return sandboxTunnelSecret(await this.read(), sandboxId)
  }
}
