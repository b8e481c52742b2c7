import { AppError } from '@sandyard/kit/errors/app-error'

/** The texts of control-plane.md 1.8: the first line is fixed, the second line has the cause. */

export const missingCredential = (): AppError => new AppError('unauthenticated', 'authorization header is missing')

export const malformedCredential = (): AppError => new AppError('unauthenticated', 'authorization header is malformed')

export const invalidApiKey = (cause: string): AppError =>
  new AppError('unauthenticated', `Invalid API key, please visit https://e2b.dev/docs/api-key for more information.\n${cause}`)

export const invalidAccessToken = (cause: string): AppError =>
  new AppError('unauthenticated', `Invalid Access token, try to login again by running \`e2b auth login\`.\n${cause}`)

export const invalidProviderToken = (): AppError =>
  new AppError('unauthenticated', 'Invalid auth provider token.\nBackend authentication failed')

export const invalidProviderTeam = (cause: string): AppError =>
  new AppError('unauthenticated', `Invalid auth provider token teamID.\n${cause}`)

export const invalidAdminToken = (): AppError => new AppError('unauthenticated', 'Invalid Access token.\nInvalid Access token.')

export const adminTeamMalformed = (): AppError => new AppError('invalid_argument', 'Invalid admin token teamID.\nInvalid team ID')

export const adminTeamUnknown = (): AppError => new AppError('not_found', 'Invalid admin token teamID.\nTeam not found')

export const teamBanned = (): AppError => new AppError('permission_denied', 'team is banned')

export const teamBlocked = (reason: string | undefined): AppError =>
  new AppError('permission_denied', reason === undefined ? 'team is blocked' : `team is blocked: ${reason}`)
