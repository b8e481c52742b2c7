import { Type } from 'typebox'
import { TemplateAliasResponse } from '@sandyard/api-contract/templates/update-template'
import { AppError } from '@sandyard/kit/errors/app-error'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { findInOwnNames } from '../own-template.ts'
import { findReadyBuild } from '../resolve-template.ts'
import { tagNotFound, templateNotFound } from '../template-errors.ts'
import { parseReferenceAs } from '../template-reference.ts'

const AliasParams = Type.Object({
  alias: Type.String({ description: 'Template reference: a name, namespace/name, with an optional :tag' }),
})

/** `GET /templates/aliases/{alias}`: whether a name, or a tag of it, is taken (control-plane.md 12.4). */
export const getTemplateAliasRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getTemplateAlias'),
    schema: { params: AliasParams, response: { 200: TemplateAliasResponse, ...errors(400, 401, 403, 404, 429, 500) } },
    handler: async ({ principal, params: { alias } }) => {
      const { db } = ctx.database
      const team = getTeam(principal)
      const reference = parseReferenceAs('Invalid alias format', alias)
      const template = await findInOwnNames(db, team, reference)
      if (template === undefined) throw templateNotFound(reference)
      // Checked before the tag, so that tags of another team are not revealed.
      if (template.teamId !== team.id) throw new AppError('permission_denied', "You don't have access to this template alias")
      if (alias.includes(':') && (await findReadyBuild(db, template.templateId, reference.tag)) === undefined) throw tagNotFound(reference)
      return { templateID: template.templateId, public: template.isPublic }
    },
  })
