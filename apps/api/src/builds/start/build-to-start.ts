import type { Db, Tx } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { teamTransaction } from '../../teams/team-transaction.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import { shorten } from '../../text/shorten.ts'
import { buildNotFound, notWaiting, tooManyBuilds } from '../build-errors.ts'
import type { BuildParts } from '../build-parts.ts'
import { cancelInProgress } from '../queue/end-older-builds.ts'
import { findBuild, parseBuildId, type Build } from '../find-build.ts'
import { countUnfinished } from '../queue/count-unfinished.ts'
import { enqueueBuild, type BuildOrder } from '../queue/enqueue-build.ts'

/** Raw values from the path. */
export interface BuildPath {
  readonly templateId: string
  readonly buildId: string
}

/** @throws AppError `invalid_argument` and `not_found` with the texts of control-plane.md 10.2 and 10.5 */
export async function getBuildToStart(db: Db, path: BuildPath): Promise<Build> {
  const buildId = parseBuildId(path.buildId)
  if (buildId === undefined) throw new AppError('invalid_argument', `Invalid build ID: ${shorten(path.buildId)}`)
  const build = await findBuild(db, path.templateId, buildId)
  if (build === undefined || build.isTemplateDeleted) {
    throw buildNotFound(`build '${buildId}' of template '${shorten(path.templateId)}' not found`)
  }
  return build
}

export function isWaiting({ status }: Pick<Build, 'status'>): boolean {
  return status === 'waiting' || status === 'pending'
}

/**
 * Runs `work` for a build that waits for its start, under the team's lock: other requests cannot start or register builds of the team.
 *
 * @throws AppError `invalid_argument` when the build does not wait any more; `resource_exhausted` when the limit was lowered below what is registered
 */
export async function whileWaiting(parts: BuildParts, build: Build, work: (tx: Tx) => Promise<void>): Promise<void> {
  await teamTransaction(parts.database, { teamId: build.ownerId }, async ({ tx, own }) => {
    const row = await tx.selectFrom('build').select('status').where('build_id', '=', build.buildId).forUpdate().executeTakeFirst()
    if (row === undefined || !isWaiting(row)) throw notWaiting()
    const { concurrentBuilds: limit } = limitsOf(parts.limits, own)
    if ((await countUnfinished(tx, build.ownerId)) > limit) throw tooManyBuilds(limit, own)
    await work(tx)
  })
}

/** Queues a waiting build, and ends builds in progress for one of its tags (control-plane.md 10.5). */
export async function queueInPlaceOfOthers(tx: Tx, { tokenSeed }: BuildParts, build: Build, order: Omit<BuildOrder, 'buildId' | 'teamId'>) {
  const { buildId, templateId, ownerId } = build
  await enqueueBuild(tx, tokenSeed, { ...order, buildId, teamId: ownerId })
  const rows = await tx.selectFrom('tag_assignment').select('tag').distinct().where('build_id', '=', buildId).execute()
  await cancelInProgress(tx, { templateId, tags: rows.map(({ tag }) => tag) }, { except: buildId })
}
