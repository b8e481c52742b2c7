import { sandboxTunnelSecret } from '@sandyard/db/tunnel-secret'
import type { Secret } from '@sandyard/kit/config/secret'

/** Where the seed of an installation is kept. */
export interface TokenSeedSource {
  /** @throws when the installation has none yet */
  readTokenSeed(): Promise<Secret>
}

/** What the daemons want to see before they open tunnels. Holds nothing before the first is needed, and only the seed then: it never changes. */
export class TunnelSecrets {
  readonly #source: TokenSeedSource
  #seed: Secret | undefined

  constructor(source: TokenSeedSource) {
    this.#source = source
  }

  /** @throws what the source throws */
  async find(sandboxId: string): Promise<string> {
    this.#seed ??= await this.#source.readTokenSeed()
    return sandboxTunnelSecret(this.#seed, sandboxId)
  }
}
