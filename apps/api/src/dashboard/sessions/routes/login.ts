import { LoginBody } from '@sandyard/dashboard-contract/session'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { clientOf } from '../../../http/caps/request-owner.ts'
import { registerOpenRoute } from '../../dashboard-route.ts'
import { isSecure, ownOrigin } from '../../own-origin.ts'
import { addressOf } from '../address-of.ts'
import { logIn } from '../log-in.ts'
import { LoginTries } from '../login-tries.ts'
import { toMe } from '../me-view.ts'
import { sessionCookie } from '../session-cookie.ts'
import { deleteSession, findSession } from '../session-rows.ts'

const BODY_LIMIT = 8 * 1024

/** `POST /login`. A session that the browser has already is replaced. */
export const loginRoute: ApiRoute = (app, ctx) => {
  const tries = new LoginTries()
  const address = addressOf(ctx.config)
  registerOpenRoute(app, {
    operation: 'POST /login',
    schema: { body: LoginBody },
    bodyLimit: BODY_LIMIT,
    handle: async ({ body, request, reply }) => {
      const { sessionId, token } = await tries.run(clientOf(request), () => logIn(ctx.auth, body))
      const session = await findSession(ctx.auth, sessionId)
      if (session === undefined) throw new AppError('unauthenticated', 'The API key has just been deleted')
      const former = request.dashboardSession
      if (former !== null) await deleteSession(ctx.database.db, former.sessionId)
      request.principal = session.principal
      void reply.header('set-cookie', sessionCookie(token, isSecure(request, address)))
      return toMe(ctx, session, ownOrigin(request, address))
    },
  })
}
