import { createHash, createHmac } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'

/** The token of a sandbox's daemon: the same over pause, resume and repeated reads, and nowhere stored (control-plane.md 18.1). */
export function sandboxAccessToken(tokenSeed: Secret, sandboxId: string): string {
  return createHmac('sha256', tokenSeed.reveal()).update(sandboxId).digest('hex')
}

/** What the daemon is told of the token that `/init` may set: the digest of it, or of nothing for an open sandbox (envd.md 5.5). */
export function accessTokenDigest(token: string | undefined): string {
  return createHash('sha512')
    .update(token ?? '')
    .digest('hex')
}
