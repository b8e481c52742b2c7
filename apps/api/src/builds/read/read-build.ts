import { AppError } from '@sandyard/kit/errors/app-error'
import type { Db } from '@sandyard/db/database'
import { findTeamForOwner } from '../../auth/acting-team.ts'
import type { Principal } from '../../auth/principal.ts'
import { shorten } from '../../text/shorten.ts'
import type { BuildPath } from '../start/build-to-start.ts'
import { findBuild, parseBuildId, type Build } from '../find-build.ts'

/**
 * A build that the caller may read. Builds of deleted templates are included, so that pollers see the end.
 *
 * @throws AppError with the texts of control-plane.md 10.6
 */
export async function getReadableBuild(db: Db, principal: Principal | null, path: BuildPath): Promise<Build> {
  const buildId = parseBuildId(path.buildId)
  if (buildId === undefined) throw new AppError('invalid_argument', 'Invalid build id')
  const build = await findBuild(db, path.templateId, buildId)
  if (build === undefined) throw new AppError('invalid_argument', `Build '${buildId}' not found`)
  const team = await findTeamForOwner(db, principal, { ownerId: build.ownerId, mayBeBlocked: true })
  if (team === undefined) {
    throw new AppError('permission_denied', `You don't have access to this sandbox template (${shorten(path.templateId)})`)
  }
  return build
}
