import { findTeamForOwner } from '../../auth/acting-team.ts'
import type { Principal } from '../../auth/principal.ts'
import { AppError } from '@sandyard/kit/errors/app-error'
import { foreignBuild, notWaiting } from '../build-errors.ts'
import type { BuildParts } from '../build-parts.ts'
import { getBuildToStart, isWaiting, queueInPlaceOfOthers, whileWaiting, type BuildPath } from './build-to-start.ts'
import { toLegacyPlan } from '../build-plan.ts'

/**
 * Starts a first-generation build from the Dockerfile of its registration. Does nothing if the registration started the build. The checks
 * run in the order of control-plane.md 10.2.
 *
 * @throws AppError with the texts of control-plane.md 10.2; `unimplemented` for a build that needs a pushed image
 */
export async function startLegacyBuild(parts: BuildParts, principal: Principal | null, path: BuildPath): Promise<void> {
  const build = await getBuildToStart(parts.database.db, path)
  const team = await findTeamForOwner(parts.database.db, principal, { ownerId: build.ownerId })
  if (team === undefined) throw foreignBuild()
  if (build.startsItself) return
  if (!isWaiting(build)) throw notWaiting()
  const { dockerfile = '', startCmd, readyCmd } = build
  if (dockerfile.trim() === '') throw pushUnserved()
  const plan = toLegacyPlan({ dockerfile, startCmd, readyCmd })
  await whileWaiting(parts, build, (tx) => queueInPlaceOfOthers(tx, parts, build, { plan, builderVersion: 'v1' }))
}

function pushUnserved(): AppError {
  return new AppError(
    'unimplemented',
    'This server takes no pushed images: create the template with the text of its Dockerfile, or build it with POST /v3/templates.',
  )
}
