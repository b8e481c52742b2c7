import type { DaemonState } from './daemon-state.ts'

export type InitDecision = 'accept' | 'access token reset not authorized' | 'access token validation failed'

/**
 * May this request set, confirm or clear the access token (the table of envd.md 5.5)? An absent token clears the current one.
 *
 * With a platform the key of the instance alone decides, since the access token is known to the owner's programs. Without one the first caller
 * sets the token, and later ones can only confirm it.
 *
 * @param isPlatform whether the request has the key of the instance; undefined without a platform
 */
export function authorizeInit(state: DaemonState, requested: string | undefined, isPlatform: boolean | undefined): InitDecision {
  const isConfirmation = state.accessToken === undefined || (requested !== undefined && state.isAccessToken(requested))
  if (isPlatform ?? isConfirmation) return 'accept'
  return requested === undefined ? 'access token reset not authorized' : 'access token validation failed'
}
