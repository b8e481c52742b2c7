import { createHash } from 'node:crypto'

/** What the daemon is told of the token that `/init` may set: the digest of it, or of nothing for an open sandbox (envd.md 5.5). */
export function accessTokenDigest(token: string | undefined): string {
  return createHash('sha512')
    .update(token ?? '')
    .digest('hex')
}
