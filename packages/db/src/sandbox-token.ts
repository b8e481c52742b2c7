import { createHmac } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'

/** The row of `server_setting` with the seed, which the first start of an installation creates (docs/decisions/005-token-seed.md). */
export const TOKEN_SEED_SETTING = 'token_seed'

/** The token of a sandbox's daemon: stable over pause, resume and repeated reads, and not stored (control-plane.md 18.1). */
export function sandboxAccessToken(tokenSeed: Secret, sandboxId: string): string {
  return createHmac('sha256', tokenSeed.reveal()).update(sandboxId).digest('hex')
}

/**
 * The secret with which the proxy asks a sandbox's daemon for a tunnel to a server on localhost (docs/decisions/008-localhost-ports.md). It
 * gives no other access, differs between sandboxes, and is never disclosed: the daemon itself only gets its digest.
 */
export function sandboxTunnelSecret(tokenSeed: Secret, sandboxId: string): string {
  // Ids have no colon, so this never equals the access token of a sandbox.
  return createHmac('sha256', tokenSeed.reveal()).update(`tunnel:${sandboxId}`).digest('hex')
}

/** The token of the ports of a sandbox whose traffic is not public: stable like the daemon's token (control-plane.md 18.2). */
export function sandboxTrafficToken(tokenSeed: Secret, sandboxId: string): string {
  // Ids have no hyphen, so this never equals another sandbox's access token.
  return createHmac('sha256', tokenSeed.reveal()).update(`sandbox-traffic-${sandboxId}`).digest('hex')
}

/** The key with which a proxy asks the control plane to resume a sandbox for its traffic. It gives no other access. */
export function proxyWakeKey(tokenSeed: Secret): string {
  return createHmac('sha256', tokenSeed.reveal()).update('proxy:wake').digest('hex')
}
