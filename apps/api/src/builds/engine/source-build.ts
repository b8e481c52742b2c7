import type { Db } from '@sandyard/db/database'
import { READY_BUILD_STATUSES, type CommandContext } from '@sandyard/db/schema/build'
import type { ImageRef } from '@sandyard/runtime/types'
import type { BuildSource } from '../build-plan.ts'
import { BuildFailure } from '../build-failure.ts'

/** The build that another one is based on (control-plane.md 11.3, 11.6). */
export interface SourceBuild {
  readonly image: ImageRef
  readonly context: CommandContext
  readonly startCmd: string | undefined
  readonly readyCmd: string | undefined
  /** The context of the start command. */
  readonly startContext: CommandContext
}

/** @throws BuildFailure when the build was deleted since the start request */
export async function findSourceBuild(db: Db, source: Extract<BuildSource, { kind: 'template' }>): Promise<SourceBuild> {
  const row = await db
    .selectFrom('build')
    .select(['image', 'default_user', 'default_workdir', 'env', 'start_cmd', 'ready_cmd', 'start_context'])
    .where('build_id', '=', source.buildId)
    .where('status', 'in', READY_BUILD_STATUSES)
    .executeTakeFirst()
  if (row === undefined || row.image === null) throw new BuildFailure(`template '${source.reference}' has no build that is ready`, 'base')
  const { image, default_user: user, default_workdir: workdir, env } = row
  const context: CommandContext = { user, env, ...(workdir !== '' && { workdir }) }
  return {
    image,
    context,
    startCmd: row.start_cmd ?? undefined,
    readyCmd: row.ready_cmd ?? undefined,
    startContext: row.start_context ?? context,
  }
}
