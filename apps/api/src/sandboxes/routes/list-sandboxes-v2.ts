import { Type } from 'typebox'
import { DEFAULT_PAGE_SIZE } from '@sandyard/api-contract/paging'
import { ListSandboxesV2Query } from '@sandyard/api-contract/sandboxes/list-sandboxes'
import { ListedSandbox } from '@sandyard/api-contract/sandboxes/sandbox'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Db } from '@sandyard/db/database'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { decodeCursor, encodeCursor } from '../../http/cursor.ts'
import { errors, operation } from '../../http/operation.ts'
import { parseRfc3339 } from '../../http/rfc3339.ts'
import type { Team } from '../../teams/team.ts'
import { isUsableBy } from '../../templates/template.ts'
import { findTemplate } from '../../templates/resolve-template.ts'
import { parseTemplateReference, type TemplateReference } from '../../templates/template-reference.ts'
import { countRunning, listSandboxes, type SandboxFilter, type WireState } from '../read/list-sandboxes.ts'
import { parseMetadataFilter } from '../read/metadata-filter.ts'
import { toListedSandbox } from '../read/sandbox-view.ts'

/** `GET /v2/sandboxes` (control-plane.md 6.3.2). */
export const listSandboxesV2Route: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listSandboxesV2'),
    schema: { querystring: ListSandboxesV2Query, response: { 200: Type.Array(ListedSandbox), ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, query }, reply) => {
      const { db } = ctx.database
      const order = query.order ?? 'desc'
      const limit = query.limit ?? DEFAULT_PAGE_SIZE
      const after = query.nextToken === undefined ? undefined : decodeCursor(query.nextToken, order)
      const filter = await readFilter(db, getTeam(principal), query)
      if (query.state === undefined || query.state.includes('running')) {
        void reply.header('x-total-running', filter === undefined ? 0 : await countRunning(db, filter))
      }
      if (filter === undefined) return []
      const rows = await listSandboxes(db, filter, { order, after, limit })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      if (rows.length > limit && last !== undefined) {
        void reply.header('x-next-token', encodeCursor({ time: last.started_at, id: last.sandbox_id }, order))
      }
      return page.map(toListedSandbox)
    },
  })

/** Undefined when nothing can match: the template is unknown. */
async function readFilter(db: Db, team: Team, query: ListSandboxesV2Query): Promise<SandboxFilter | undefined> {
  const metadata = query.metadata === undefined ? undefined : parseMetadataFilter(query.metadata)
  const startedAfter = query.startedAfter === undefined ? undefined : parseRfc3339(query.startedAfter)
  const states = (query.state?.split(',') ?? ['running', 'paused']) as WireState[]
  const template = query.template === undefined ? undefined : await findTemplate(db, team, readTemplate(query.template))
  if (query.template !== undefined && (template === undefined || !isUsableBy(template, team.id))) return undefined
  return {
    teamId: team.id,
    states,
    ...(metadata !== undefined && { metadata }),
    ...(startedAfter !== undefined && { startedAfter }),
    ...(template !== undefined && { templateId: template.templateId }),
  }
}

function readTemplate(text: string): TemplateReference {
  if (text.includes(':')) {
    throw new AppError('invalid_argument', 'Invalid template: tags are not supported here because sandboxes are not tag-scoped')
  }
  try {
    return parseTemplateReference(text)
  } catch (cause) {
    throw new AppError('invalid_argument', `Invalid template: ${(cause as Error).message}`, { cause })
  }
}
