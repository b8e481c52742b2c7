import type { FastifyRequest } from 'fastify'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { AppContext } from '../../context.ts'
import { addressOf } from './address-of.ts'
import { isSecure } from '../own-origin.ts'
import type { DashboardSession } from './dashboard-session.ts'
import { readTokens } from './session-cookie.ts'
import { findSessions, touchSession } from './session-rows.ts'

type Parts = Pick<AppContext, 'config' | 'auth'>

const TOUCH_MS = 60_000

/**
 * The session of the request's cookie; null without one.
 *
 * @throws AppError `unauthenticated` for two valid ones: a page of a sandbox may have set one of them for the whole domain, and to take the wrong one
 *   would let people work for another team. The answer removes it (stray-cookies.ts), so the next request is answered.
 */
export async function readSession({ config, auth }: Parts, request: FastifyRequest): Promise<DashboardSession | null> {
  const sessions = await findSessions(auth, readTokens(request, isSecure(request, addressOf(config))))
  const [session, other] = sessions
  if (session === undefined) return null
  if (other !== undefined)
    throw new AppError(
      'unauthenticated',
      'There are two logins in the cookies; one was set by another page of this site and is removed: try again',
    )
  // The row is written at most once a minute, and this process does not even try more often.
  if (Date.now() - session.usedAt.getTime() > TOUCH_MS) await touchSession(auth.database.db, session.sessionId)
  if (session.principal.apiKeyId !== undefined) auth.onApiKeyUsed(session.principal.apiKeyId)
  return session
}
