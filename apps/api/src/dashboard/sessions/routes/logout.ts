import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerOpenRoute } from '../../dashboard-route.ts'
import { isSecure } from '../../own-origin.ts'
import { addressOf } from '../address-of.ts'
import { removedCookie } from '../session-cookie.ts'
import { deleteSession } from '../session-rows.ts'

/** `POST /logout`. Without a session nothing happens. */
export const logoutRoute: ApiRoute = (app, ctx) => {
  const address = addressOf(ctx.config)
  registerOpenRoute(app, {
    operation: 'POST /logout',
    schema: {},
    handle: async ({ request, reply }) => {
      const session = request.dashboardSession
      if (session !== null) await deleteSession(ctx.database.db, session.sessionId)
      void reply.header('set-cookie', removedCookie(isSecure(request, address)))
      return undefined
    },
  })
}
