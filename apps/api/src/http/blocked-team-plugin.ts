import fp from 'fastify-plugin'
import { teamBlocked } from '../auth/auth-errors.ts'

/** A blocked team may only read and delete. Other requests are refused after validation and before any look-up (control-plane.md 1.10). */
export const blockedTeamPlugin = fp(
  async (app) => {
    app.addHook('preHandler', async (request) => {
      const team = request.principal?.team
      const mayPass = request.routeOptions.config.operation?.whileBlocked === true
      if (team?.isBlocked === true && !mayPass) throw teamBlocked(team.blockedReason)
    })
  },
  { name: 'blocked-team', dependencies: ['auth'] },
)
