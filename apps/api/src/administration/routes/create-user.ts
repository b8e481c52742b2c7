import { AdminUser, NewUser } from '@sandyard/api-contract/administration/admin-user'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { createUser } from '../../teams/users.ts'
import { createOnceAsAdmin } from '../admin-idempotency.ts'
import { toAdminUser } from '../admin-views.ts'

/** `POST /admin/users` (ours). */
export const adminCreateUserRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminCreateUser'),
    schema: { headers: IdempotencyHeaders, body: NewUser, response: { 201: AdminUser, ...errors(400, 401, 409, 422, 429, 500) } },
    handler: async ({ headers, body }, reply) => {
      const create = { operationId: 'adminCreateUser', key: headers['idempotency-key'], schema: NewUser, body } as const
      return reply.code(201).send(await createOnceAsAdmin(ctx, create, async (tx) => toAdminUser(await createUser(tx, body.email))))
    },
  })
