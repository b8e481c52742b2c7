import { Type } from 'typebox'
import { TemplateFiles } from '@sandyard/api-contract/templates/template-files'
import { AppError } from '@sandyard/kit/errors/app-error'
import { findTeamForOwner } from '../../auth/acting-team.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { findTemplateById } from '../../templates/template-queries.ts'
import { shorten } from '../../text/shorten.ts'
import { signUploadLink } from '../upload-link.ts'

const Params = Type.Object({ templateID: Type.String(), hash: Type.String() })
const HASH = /^[0-9a-f]{64}$/

/** `GET /templates/{templateID}/files/{hash}` (control-plane.md 10.4): whether an archive exists, and the link for its upload. */
export const getTemplateFilesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getTemplateFiles'),
    schema: { params: Params, response: { 201: TemplateFiles, ...errors(400, 401, 403, 404, 429, 500) } },
    handler: async ({ principal, params: { templateID, hash }, protocol, host }, reply) => {
      if (!HASH.test(hash)) throw new AppError('invalid_argument', 'Invalid files hash')
      const { db } = ctx.database
      const template = await findTemplateById(db, templateID)
      const team = template && (await findTeamForOwner(db, principal, { ownerId: template.teamId }))
      if (team === undefined) {
        throw new AppError('not_found', `Error when getting template: template '${shorten(templateID)}' not found`)
      }
      const key = { teamId: team.id, hash }
      const base = ctx.config.builds.apiUrl ?? `${protocol}://${host}`
      const url = `${base}${signUploadLink(ctx.installation.tokenSeed, key)}`
      return reply.code(201).send({ present: await ctx.uploads.has(key), url })
    },
  })
