import { sandboxAccessToken, sandboxTrafficToken } from '@sandyard/db/sandbox-token'
import { TOKEN_SEED } from './memory-routes.ts'

/** The line of a head with the token of a sandbox's daemon. */
export function accessHeader(sandboxId: string): string {
  return `X-Access-Token: ${sandboxAccessToken(TOKEN_SEED, sandboxId)}`
}

/** The line of a head with the token of a sandbox's ports. */
export function trafficHeader(sandboxId: string): string {
  return `E2b-Traffic-Access-Token: ${sandboxTrafficToken(TOKEN_SEED, sandboxId)}`
}
