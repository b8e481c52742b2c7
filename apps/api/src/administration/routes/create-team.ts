import { AdminTeam, NewTeam } from '@sandyard/api-contract/administration/admin-team'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { createTeam } from '../../teams/create-team.ts'
import { createOnceAsAdmin } from '../admin-idempotency.ts'
import { settingLimits, toAdminTeam } from '../admin-views.ts'

/** `POST /admin/teams` (ours). */
export const adminCreateTeamRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminCreateTeam'),
    schema: { headers: IdempotencyHeaders, body: NewTeam, response: { 201: AdminTeam, ...errors(400, 401, 409, 422, 429, 500) } },
    handler: async ({ headers, body }, reply) => {
      const create = { operationId: 'adminCreateTeam', key: headers['idempotency-key'], schema: NewTeam, body } as const
      const made = await createOnceAsAdmin(ctx, create, async (tx) => toAdminTeam(await createTeam(tx, body), settingLimits(ctx.config)))
      return reply.code(201).send(made)
    },
  })
