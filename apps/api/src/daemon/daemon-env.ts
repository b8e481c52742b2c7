import { sandboxTunnelSecret } from '@sandyard/db/tunnel-secret'
import type { Secret } from '@sandyard/kit/config/secret'
import { secretDigest } from '../sandboxes/secret-digest.ts'

export interface DaemonIdentity {
  readonly sandboxId: string
  readonly templateId: string
  readonly buildId: string
  /** What `/init` may set; undefined for an open sandbox. */
  readonly token: string | undefined
}

/** The environment of a daemon: who it is, and by what it knows the platform. It holds digests only. */
export function daemonEnv({ sandboxId, templateId, buildId, token }: DaemonIdentity, tokenSeed: Secret): Record<string, string> {
  return {
    SANDYARD_SANDBOX_ID: sandboxId,
    SANDYARD_TEMPLATE_ID: templateId,
    SANDYARD_BUILD_ID: buildId,
    // Of nothing for an open sandbox (envd.md 5.5).
    SANDYARD_TOKEN_HASH: secretDigest(token ?? ''),
    SANDYARD_TUNNEL_HASH: secretDigest(sandboxTunnelSecret(tokenSeed, sandboxId)),
  }
}
