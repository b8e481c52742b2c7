/** The credentials in the headers of a request; empty headers are absent. */
export interface Credentials {
  readonly apiKey: string | undefined
  readonly authorization: string | undefined
  readonly adminToken: string | undefined
  readonly teamId: string | undefined
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

export function readCredentials(headers: Headers): Credentials {
  return {
    apiKey: first(headers['x-api-key']),
    authorization: first(headers['authorization']),
    adminToken: first(headers['x-admin-token']),
    teamId: first(headers['x-team-id']),
  }
}

/** The token of `Authorization: Bearer <token>`; the name of the scheme is case-insensitive. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

/** Whether a bearer token has the form of a JWT, which our own tokens never have. */
export function isJwt(token: string | undefined): token is string {
  return token !== undefined && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)
}

function first(value: string | string[] | undefined): string | undefined {
  const text = (Array.isArray(value) ? value[0] : value)?.trim()
  return text === '' ? undefined : text
}
