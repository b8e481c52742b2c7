import { Type } from 'typebox'
import { ReadyMadeTemplate } from '@sandyard/api-contract/templates/ready-made'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { toReadyMadeTemplate } from '../ready-made-view.ts'

/** `GET /ready-made-templates` (ours, docs/templates.md). Looking builds nothing. */
export const listReadyMadeTemplatesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listReadyMadeTemplates'),
    schema: { response: { 200: Type.Array(ReadyMadeTemplate), ...errors(401, 403, 429, 500) } },
    handler: async () => {
      const all = await ctx.readyMade.list()
      return Promise.all(all.map((one) => toReadyMadeTemplate(ctx.database.db, one)))
    },
  })
