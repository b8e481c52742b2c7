import { createHash } from 'node:crypto'
import { sandboxTunnelSecret } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'

export interface DaemonIdentity {
  readonly sandboxId: string
  readonly templateId: string
  readonly buildId: string
  /** The access token; undefined for an open sandbox. */
  readonly token: string | undefined
}

/**
 * The environment of a daemon: its identity, and digests of the secrets that the platform authenticates with. It contains no secret itself.
 */
export function daemonEnv({ sandboxId, templateId, buildId, token }: DaemonIdentity, tokenSeed: Secret): Record<string, string> {
  return {
    SANDYARD_SANDBOX_ID: sandboxId,
    SANDYARD_TEMPLATE_ID: templateId,
    SANDYARD_BUILD_ID: buildId,
    // The digest of an empty text for an open sandbox (envd.md 5.5).
    SANDYARD_TOKEN_HASH: secretDigest(token ?? ''),
    SANDYARD_TUNNEL_HASH: secretDigest(sandboxTunnelSecret(tokenSeed, sandboxId)),
  }
}

/** SHA-512 in hex: lets the daemon check a secret without storing it. */
function secretDigest(secret: string): string {
  return createHash('sha512').update(secret).digest('hex')
}
