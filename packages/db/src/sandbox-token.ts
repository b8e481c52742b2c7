import { createHmac } from 'node:crypto'
import { Secret } from '@sandyard/kit/config/secret'

/** The row of `server_setting` with the seed, which the first start of an installation creates (docs/decisions/005-token-seed.md). */
export const TOKEN_SEED_SETTING = 'token_seed'

/** The token of a sandbox's daemon: stable over pause, resume and repeated reads, and not stored (control-plane.md 18.1). */
export function sandboxAccessToken(tokenSeed: Secret, sandboxId: string): string {
  return createHmac('sha256', tokenSeed.reveal()).update(sandboxId).digest('hex')
}

/** The token for traffic to the ports of a sandbox without public traffic, also derived and not stored (control-plane.md 18.2). */
export function sandboxTrafficToken(tokenSeed: Secret, sandboxId: string): string {
  return createHmac('sha256', tokenSeed.reveal()).update(`sandbox-traffic-${sandboxId}`).digest('hex')
}

/**
 * The secret with which the proxy asks a sandbox's daemon for a tunnel to a server on localhost (docs/decisions/008-localhost-ports.md). It
 * gives no other access, differs between sandboxes, and is never disclosed: the daemon itself only gets its digest.
 */
export function sandboxTunnelSecret(tokenSeed: Secret, sandboxId: string): string {
  // Ids have no colon, so this never equals the access token of a sandbox.
  return createHmac('sha256', tokenSeed.reveal()).update(`tunnel:${sandboxId}`).digest('hex')
}

/** The key with which a proxy asks the control plane to resume a sandbox for its traffic. It gives no other access. */
export function proxyWakeKey(tokenSeed: Secret): string {
  return createHmac('sha256', tokenSeed.reveal()).update('proxy:wake').digest('hex')
}

/**
 * The key with which the control plane authenticates its `/init` to one start of a sandbox (docs/decisions/011-daemon-identity.md). The
 * runtime gives the sandbox only its digest. Every start has another key, so the key of an ended one opens nothing.
 */
export function sandboxInstanceKey(tokenSeed: Secret, ref: { readonly sandboxId: string; readonly incarnation: number }): Secret {
  const name = `instance:${ref.sandboxId}/${ref.incarnation}`
  return new Secret(createHmac('sha256', tokenSeed.reveal()).update(name).digest('hex'))
}
