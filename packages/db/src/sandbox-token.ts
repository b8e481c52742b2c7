import { createHmac } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'

/** The row of `server_setting` with the seed that the first start of an installation makes (docs/decisions/005-token-seed.md). */
export const TOKEN_SEED_SETTING = 'token_seed'

/** The token of a sandbox's daemon: the same over pause, resume and repeated reads, and nowhere stored (control-plane.md 18.1). */
export function sandboxAccessToken(tokenSeed: Secret, sandboxId: string): string {
  return createHmac('sha256', tokenSeed.reveal()).update(sandboxId).digest('hex')
}
