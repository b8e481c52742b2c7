import { TeamLimitsUse } from '@sandyard/api-contract/administration/team-limits'
import { getTeam } from '../../auth/principal.ts'
import { countUnfinished } from '../../builds/queue/count-unfinished.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { settingLimits, WIRE_LIMITS } from '../../administration/admin-views.ts'
import { countOccupied } from '../../sandboxes/sandbox-queries.ts'
import { getOwnTeamId } from '../../team-metrics/read-range.ts'
import { TeamParams } from '../../team-metrics/routes/team-params.ts'
import { countKept } from '../kept-counts.ts'
import { countStored } from '../stored-bytes.ts'
import { limitsOf, LIMIT_NAMES, type LimitName } from '../team-limits.ts'

/** `GET /teams/{teamID}/limits` (ours): "5 of 20 sandboxes". */
export const getTeamLimitsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getTeamLimits'),
    schema: { params: TeamParams, response: { 200: TeamLimitsUse, ...errors(401, 403, 429, 500) } },
    handler: async ({ principal, params }) => {
      const { db } = ctx.database
      const teamId = getOwnTeamId(principal, params.teamID, 'limits')
      const limits = limitsOf(settingLimits(ctx.config), getTeam(principal).limits)
      const [concurrentSandboxes, kept, concurrentBuilds, maxStoredBytes] = await Promise.all([
        countOccupied(db, teamId),
        countKept(db, teamId),
        countUnfinished(db, teamId),
        countStored(db, teamId),
      ])
      const used: { readonly [Name in LimitName]?: number } = { concurrentSandboxes, ...kept, concurrentBuilds, maxStoredBytes }
      const entries = LIMIT_NAMES.map((name) => [
        WIRE_LIMITS[name],
        { limit: limits[name] ?? null, ...(used[name] !== undefined && { used: used[name] }) },
      ])
      return Object.fromEntries(entries) as TeamLimitsUse
    },
  })
