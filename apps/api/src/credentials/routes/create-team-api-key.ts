import { CreatedTeamApiKey, NewTeamApiKey } from '@sandyard/api-contract/credentials/api-key'
import { requireTeam } from '../../administration/require-team.ts'
import { teamBanned, teamBlocked } from '../../auth/auth-errors.ts'
import { requirePrincipal } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { createOnceInTeam } from '../../idempotency/create-once.ts'
import { IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { teamNotFound } from '../../teams/team-errors.ts'
import { TeamParams } from '../../team-metrics/routes/team-params.ts'
import { createApiKey } from '../create-api-key.ts'
import { toCreatedApiKey } from '../credential-view.ts'
import { issueOnce } from './issue-once.ts'

/** `POST /admin/teams/{teamID}/api-keys` (control-plane.md 13.2): the key has no creator. */
export const createTeamApiKeyRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('createTeamApiKey'),
    schema: {
      params: TeamParams,
      headers: IdempotencyHeaders,
      body: NewTeamApiKey,
      response: { 201: CreatedTeamApiKey, ...errors(400, 401, 403, 404, 422, 429, 500, 503) },
    },
    handler: async ({ principal, params, headers, body }, reply) => {
      const team = await requireTeam(ctx.database.db, params.teamID)
      if (team.isBanned) throw teamBanned()
      if (team.isBlocked) throw teamBlocked(team.blockedReason)
      const request = { operationId: 'createTeamApiKey' as const, ownerId: team.id, headers, schema: NewTeamApiKey, body }
      const { name, scope } = body
      return issueOnce(ctx, reply, request, (once, endOf) =>
        createOnceInTeam(ctx.database, { ...once, isUrgent: true, onGone: teamNotFound }, async (locked) =>
          toCreatedApiKey(await createApiKey(locked, { name, by: requirePrincipal(principal), expiresAt: endOf(), scope })),
        ),
      )
    },
  })
