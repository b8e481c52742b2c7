import { createHash } from 'node:crypto'
import type { Database } from '@sandyard/db/database'
import type { Secret } from '@sandyard/kit/config/secret'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { isSameText } from '@sandyard/kit/secrets/same-text'
import type { AuthCache } from './auth-cache.ts'
import {
  adminTeamMalformed,
  adminTeamUnknown,
  invalidAccessToken,
  invalidAdminToken,
  invalidApiKey,
  invalidProviderTeam,
  invalidProviderToken,
  malformedCredential,
} from './auth-errors.ts'
import { findHolderOfApiKey, findTeam, findTeamOfMember, findHolderOfAccessToken } from './auth-queries.ts'
import { CREDENTIAL_PREFIXES, hashCredential } from './credential.ts'
import { bearerToken, isJwt, type Credentials } from './credentials.ts'
import type { OidcProvider } from './oidc/oidc-provider.ts'
import { isValid, type Principal } from './principal.ts'

export interface SchemeParts {
  readonly database: Database
  readonly cache: AuthCache
  /** Undefined: no provider is configured. */
  readonly oidc: OidcProvider | undefined
  /** Undefined: no administrator can authenticate. */
  readonly adminToken: Secret | undefined
  readonly onApiKeyUsed: (apiKeyId: string) => void
  /** Called before a credential is looked up in the database. What it throws refuses the credential. */
  readonly beforeLookUp?: (() => void) | undefined
}

export interface Scheme {
  isPresented(credentials: Credentials): boolean
  /** @throws AppError with the reason of a refusal */
  authenticate(credentials: Credentials, parts: SchemeParts): Promise<Principal>
}

export type SchemeName = 'apiKey' | 'accessToken' | 'accessTokenOrTeam' | 'providerUser' | 'providerTeam' | 'admin' | 'adminTeam'

/** The authentication schemes (control-plane.md 1.7), each with its own error texts. */
export const SCHEMES: Readonly<Record<SchemeName, Scheme>> = {
  apiKey: { isPresented: ({ apiKey }) => apiKey !== undefined, authenticate: authenticateApiKey },
  accessToken: {
    isPresented: ({ authorization }) => authorization !== undefined && !isJwt(bearerToken(authorization)),
    authenticate: getUser,
  },
  // A team in the header is never ignored: the request would act for another one.
  accessTokenOrTeam: {
    isPresented: ({ authorization }) => authorization !== undefined && !isJwt(bearerToken(authorization)),
    authenticate: (credentials, parts) =>
      credentials.teamId === undefined ? getUser(credentials, parts) : authenticateProviderTeam(credentials, parts),
  },
  providerUser: {
    isPresented: ({ authorization }) => authorization !== undefined,
    authenticate: getProviderUser,
  },
  providerTeam: { isPresented: ({ authorization }) => authorization !== undefined, authenticate: authenticateProviderTeam },
  admin: {
    isPresented: ({ adminToken }) => adminToken !== undefined,
    authenticate: async (credentials, parts) => {
      checkAdminToken(credentials, parts)
      return { via: 'admin' }
    },
  },
  adminTeam: { isPresented: ({ adminToken }) => adminToken !== undefined, authenticate: authenticateAdminTeam },
}

// The hashes of both kinds are of the values only, so the cache tells the kinds apart by its keys.
async function authenticateApiKey({ apiKey = '' }: Credentials, parts: SchemeParts): Promise<Principal> {
  if (!apiKey.startsWith(CREDENTIAL_PREFIXES.apiKey)) throw malformedCredential()
  const hash = hashCredential(apiKey, CREDENTIAL_PREFIXES.apiKey)
  if (hash === undefined) throw invalidApiKey('Invalid API key format')
  const look = async (): Promise<Principal | undefined> => {
    const found = await findHolderOfApiKey(parts.database.db, hash)
    return found && { via: 'api_key', ...found }
  }
  const principal = await parts.cache.resolve(`api_key ${hash}`, look, parts)
  if (principal === undefined || !isValid(principal)) throw invalidApiKey('Cannot get the team for the given API key')
  if (principal.apiKeyId !== undefined) parts.onApiKeyUsed(principal.apiKeyId)
  return principal
}

/** A principal with a user. */
interface UserPrincipal extends Principal {
  readonly user: NonNullable<Principal['user']>
}

async function getUser({ authorization }: Credentials, parts: SchemeParts): Promise<UserPrincipal> {
  const token = bearerToken(authorization)
  if (token === undefined || !token.startsWith(CREDENTIAL_PREFIXES.accessToken)) throw malformedCredential()
  const hash = hashCredential(token, CREDENTIAL_PREFIXES.accessToken)
  if (hash === undefined) throw invalidAccessToken('Invalid access token format')
  const look = async (): Promise<Principal | undefined> => {
    const found = await findHolderOfAccessToken(parts.database.db, hash)
    return found && { via: 'access_token', ...found }
  }
  const principal = await parts.cache.resolve(`access_token ${hash}`, look, parts)
  if (principal?.user === undefined || !isValid(principal)) throw invalidAccessToken('Cannot get the user for the given access token')
  return { ...principal, user: principal.user }
}

/** The user of a token of the provider, or of an access token of this server. Neither kind is ever taken for the other. */
async function getProviderUser(credentials: Credentials, parts: SchemeParts): Promise<UserPrincipal> {
  const token = bearerToken(credentials.authorization)
  if (token === undefined || token.startsWith(CREDENTIAL_PREFIXES.accessToken)) return getUser(credentials, parts)
  const { oidc, cache, beforeLookUp } = parts
  if (oidc === undefined || !isJwt(token)) throw invalidProviderToken()
  const key = createHash('sha256').update(token).digest('base64url')
  const principal = await cache.resolve(`oidc ${key}`, () => oidc.findPrincipal(token), { beforeLookUp, isRemote: true })
  if (principal?.user === undefined || !isValid(principal)) throw invalidProviderToken()
  return { ...principal, user: principal.user }
}

async function authenticateProviderTeam(credentials: Credentials, parts: SchemeParts): Promise<Principal> {
  const { user, accessTokenId, expiresAt } = await getProviderUser(credentials, parts)
  const { teamId } = credentials
  if (teamId === undefined || !isUuid(teamId)) throw invalidProviderTeam('Invalid team ID')
  const team = await findTeamOfMember(parts.database.db, teamId, user.id)
  if (team === undefined) throw invalidProviderTeam('Team not found')
  return {
    via: 'user_team',
    user,
    team,
    ...(accessTokenId !== undefined && { accessTokenId }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

async function authenticateAdminTeam(credentials: Credentials, parts: SchemeParts): Promise<Principal> {
  checkAdminToken(credentials, parts)
  const { teamId } = credentials
  if (teamId === undefined || !isUuid(teamId)) throw adminTeamMalformed()
  const team = await findTeam(parts.database.db, teamId)
  if (team === undefined) throw adminTeamUnknown()
  return { via: 'admin_team', team }
}

function checkAdminToken({ adminToken = '' }: Credentials, parts: SchemeParts): void {
  const wanted = parts.adminToken?.reveal()
  if (wanted === undefined || !isSameText(adminToken, wanted)) throw invalidAdminToken()
}
