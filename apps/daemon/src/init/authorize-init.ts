import { createHash } from 'node:crypto'
import { isSameText } from '../access/same-text.ts'
import type { DaemonState } from './daemon-state.ts'

export type InitDecision = 'accept' | 'access token reset not authorized' | 'access token validation failed'

/**
 * May this request set, confirm or clear the access token (the table of envd.md 5.5)? An absent token clears the current one.
 *
 * @param platformHash SHA-512 hex of the token that the platform allows next; of the empty text to allow none. Undefined or empty
 *   without a platform: then the first caller sets the token, and later ones can only confirm it.
 */
export function authorizeInit(state: DaemonState, requested: string | undefined, platformHash: string | undefined): InitDecision {
  if (requested !== undefined && state.isAccessToken(requested)) return 'accept'
  if (platformHash !== undefined && isSameText(sha512(requested ?? ''), platformHash.toLowerCase())) return 'accept'
  if (state.accessToken === undefined && (platformHash === undefined || platformHash === '')) return 'accept'
  return requested === undefined ? 'access token reset not authorized' : 'access token validation failed'
}

function sha512(text: string): string {
  return createHash('sha512').update(text).digest('hex')
}
