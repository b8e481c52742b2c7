import { SwitchTeamBody } from '@sandyard/dashboard-contract/session'
import { AppError } from '@sandyard/kit/errors/app-error'
import { findTeam } from '../../../auth/auth-queries.ts'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerOperatorRoute } from '../../dashboard-route.ts'
import { ownOrigin } from '../../own-origin.ts'
import { addressOf } from '../address-of.ts'
import { toMe } from '../me-view.ts'
import { setSessionTeam } from '../session-rows.ts'

/** `POST /me/team` */
export const switchTeamRoute: ApiRoute = (app, ctx) => {
  registerOperatorRoute(app, {
    operation: 'POST /me/team',
    schema: { body: SwitchTeamBody },
    handle: async ({ session, body, request }) => {
      const { db } = ctx.database
      const team = await findTeam(db, body.teamId)
      if (team === undefined) throw new AppError('not_found', 'Team not found')
      await setSessionTeam(db, session.sessionId, team.id)
      const { dashboardSessionId } = session.principal
      const principal = { via: 'admin_team', team, ...(dashboardSessionId !== undefined && { dashboardSessionId }) } as const
      return toMe(ctx, { ...session, team, principal }, ownOrigin(request, addressOf(ctx.config)))
    },
  })
}
