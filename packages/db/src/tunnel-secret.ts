import { createHmac } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'

/**
 * What the proxy shows a sandbox's daemon when it asks for a tunnel to a server on localhost (docs/decisions/008-localhost-ports.md). It
 * opens nothing else, is another one in each sandbox, and is told to nobody: the daemon itself only gets its digest.
 */
export function sandboxTunnelSecret(tokenSeed: Secret, sandboxId: string): string {
  // No id has a colon, so this is never the access token of a sandbox.
  return createHmac('sha256', tokenSeed.reveal()).update(`tunnel:${sandboxId}`).digest('hex')
}
