import type { AuthSet } from '@sandyard/api-contract/operation'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { missingCredential, teamBanned } from './auth-errors.ts'
import type { Credentials } from './credentials.ts'
import type { Principal } from './principal.ts'
import { SCHEMES, type SchemeName, type SchemeParts } from './schemes.ts'

/**
 * The schemes of each set, in the order in which they are tried (control-plane.md 1.7). Access tokens of this server are valid wherever a
 * token of the OpenID provider is, so an installation needs no provider.
 */
const SETS: Readonly<Record<Exclude<AuthSet, 'none'>, readonly SchemeName[]>> = {
  T: ['apiKey', 'providerTeam', 'adminTeam'],
  TU: ['apiKey', 'accessTokenOrTeam', 'providerTeam', 'adminTeam'],
  U: ['accessToken', 'providerTeam'],
  G: ['accessToken', 'providerUser'],
  K: ['providerTeam', 'adminTeam'],
  P: ['providerUser'],
  PT: ['providerTeam'],
  A: ['admin'],
}

/** Whether a request presents a credential that a scheme of the set checks. */
export function presentsCredential(set: Exclude<AuthSet, 'none'>, credentials: Credentials): boolean {
  return SETS[set].some((name) => SCHEMES[name].isPresented(credentials))
}

/**
 * The principal of the first scheme of the set that accepts the credentials. If none accepts them, the error is that of the first scheme
 * whose credential was presented (control-plane.md 1.8).
 *
 * @throws AppError with the status and text of control-plane.md 1.8
 */
export async function authenticate(set: Exclude<AuthSet, 'none'>, credentials: Credentials, parts: SchemeParts): Promise<Principal> {
  let refusal: Error | undefined
  for (const name of SETS[set]) {
    const scheme = SCHEMES[name]
    if (!scheme.isPresented(credentials)) continue
    try {
      const principal = await scheme.authenticate(credentials, parts)
      if (principal.team?.isBanned === true) throw teamBanned()
      return principal
    } catch (err) {
      if (!isAppError(err)) throw err
      refusal ??= err
    }
  }
  throw refusal ?? missingCredential()
}
