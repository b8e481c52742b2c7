import { sandboxTunnelSecret } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'

/** The field `identity` of `/init` (docs/decisions/011-daemon-identity.md). It contains no secret. */
export interface DaemonIdentity {
  readonly sandboxID: string
  readonly templateID: string
  readonly buildID: string
  /** Lets the daemon check the proxy's secret for tunnels. */
  readonly tunnelSecretHash: string
}

export interface IdentifiedSandbox {
  readonly sandboxId: string
  readonly templateId: string
  readonly buildId: string
}

export function daemonIdentity({ sandboxId, templateId, buildId }: IdentifiedSandbox, tokenSeed: Secret): DaemonIdentity {
  const tunnelSecretHash = secretDigest(sandboxTunnelSecret(tokenSeed, sandboxId))
  return { sandboxID: sandboxId, templateID: templateId, buildID: buildId, tunnelSecretHash }
}
