import { DASHBOARD_LIMITS } from '@sandyard/api-contract/dashboard-backend/paging'
import { DashboardBuilds, DashboardBuildsQuery, type DashboardListedBuild } from '@sandyard/api-contract/dashboard-backend/builds'
import type { BuildRow } from '@sandyard/dashboard-contract/templates'
import type { Db } from '@sandyard/db/database'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { getTeam } from '../../auth/principal.ts'
import { readBuildRows, readBuildsById } from '../../dashboard/operations/builds/read-builds.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { clampLimit } from '../../tags/routes/clamp-limit.ts'
import type { Team } from '../../teams/team.ts'
import { findTemplate } from '../../templates/resolve-template.ts'
import { parseReferenceAs } from '../../templates/template-reference.ts'
import { toBuildStatus, toStates } from '../build-states.ts'

/** `GET /dashboard-api/builds` (dashboard-and-cli.md 2.1). What the filter does not find is an empty list. */
export const listDashboardBuildsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listDashboardBuilds'),
    schema: { querystring: DashboardBuildsQuery, response: { 200: DashboardBuilds, ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, query }) => {
      const { db } = ctx.database
      const team = getTeam(principal)
      const wanted = query.build_id_or_template?.trim() ?? ''
      const status = query.statuses === undefined || query.statuses === '' ? undefined : toStates(query.statuses)
      if (isUuid(wanted)) {
        const builds = await readBuildsById(db, team.id, [wanted])
        return {
          data: builds.filter((build) => status === undefined || status.split(',').includes(build.status)).map(toListed),
          nextCursor: null,
        }
      }
      const template = wanted === '' ? undefined : await findOwnTemplateId(db, team, wanted)
      if (wanted !== '' && template === undefined) return { data: [], nextCursor: null }
      const { rows, nextCursor } = await readBuildRows(db, team.id, {
        limit: clampLimit(query.limit, DASHBOARD_LIMITS),
        ...(query.cursor !== undefined && query.cursor !== '' && { cursor: query.cursor }),
        ...(status !== undefined && { status }),
        ...(template !== undefined && { template }),
      })
      return { data: rows.map(toListed), nextCursor }
    },
  })

async function findOwnTemplateId(db: Db, team: Team, text: string): Promise<string | undefined> {
  const template = await findTemplate(db, team, parseReferenceAs('Invalid template reference', text))
  return template?.teamId === team.id ? template.templateId : undefined
}

function toListed(row: BuildRow): DashboardListedBuild {
  return { id: row.buildId, template: row.templateName, templateId: row.templateId, createdAt: row.createdAt, ...toBuildStatus(row) }
}
