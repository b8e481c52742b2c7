import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { LoginBody } from '@sandyard/dashboard-contract/session'
import { authenticate } from '../../auth/authenticate.ts'
import type { Credentials } from '../../auth/credentials.ts'
import type { SchemeParts } from '../../auth/schemes.ts'
import { useLoginCode } from './login-code.ts'
import { findFirstTeam, insertSession } from './session-rows.ts'

const NONE: Credentials = { apiKey: undefined, authorization: undefined, adminToken: undefined, teamId: undefined }

/**
 * Makes a session.
 *
 * @returns the token for the cookie
 * @throws AppError `unauthenticated` for a wrong credential; `permission_denied` for a banned team and a key that does not fit
 */
export async function logIn(parts: SchemeParts, body: LoginBody): Promise<{ sessionId: string; token: string }> {
  const { db } = parts.database
  if ('key' in body) {
    const { apiKeyId, scope } = await check('The API key is not valid', () =>
      authenticate('T', { ...NONE, apiKey: body.key.trim() }, parts),
    )
    if (scope === 'connect' || scope === 'build') {
      throw new AppError('permission_denied', 'This API key is limited: log in with one that has no limits, or that may read')
    }
    return insertSession(parts, { role: 'developer', ...(apiKeyId !== undefined && { apiKeyId }) })
  }
  if ('adminToken' in body) {
    await check('The admin token is not valid', () => authenticate('A', { ...NONE, adminToken: body.adminToken.trim() }, parts))
  } else if (!(await useLoginCode(db, body.code))) {
    throw new AppError('unauthenticated', 'This link has been used or is older than a minute: `sandyard dashboard` prints a new one')
  }
  const team = await findFirstTeam(db)
  return insertSession(parts, { role: 'operator', teamId: team?.id })
}

/** The texts of the interface are for clients of the wire; here a person reads them. */
async function check<T>(sentence: string, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt()
  } catch (err) {
    if (isAppError(err, 'unauthenticated')) throw new AppError('unauthenticated', sentence, { cause: err })
    throw err
  }
}
