import { ensureInstallation } from '../../src/settings/installation.ts'
import type { BuildPlan } from '../../src/builds/build-plan.ts'
import { enqueueBuild, type BuildOrder } from '../../src/builds/queue/enqueue-build.ts'
import { readLogPage } from '../../src/builds/queue/read-build-log.ts'
import { waitFor, type World } from './control-plane.ts'

export const PLAN: BuildPlan = { source: { kind: 'image', reference: 'debian' }, steps: [], force: false }

/** A registered build, as the routes leave it. Default: of the template `base`. */
export async function registerBuild(world: World, templateId = world.templateId): Promise<string> {
  const { build_id } = await world.database.db
    .insertInto('build')
    .values({
      template_id: templateId,
      status: 'waiting',
      cpu_count: 2,
      memory_mib: 1024,
      disk_mib: 512,
      default_user: 'user',
      default_workdir: '/home/user',
    })
    .returning('build_id')
    .executeTakeFirstOrThrow()
  return build_id
}

/** A build in the queue. */
export async function queueBuild(world: World, order: Partial<BuildOrder> = {}): Promise<string> {
  const buildId = order.buildId ?? (await registerBuild(world))
  const { tokenSeed } = await ensureInstallation(world.database.db)
  await world.database.transaction((tx) =>
    enqueueBuild(tx, tokenSeed, { teamId: world.teamId, plan: PLAN, builderVersion: 'v2.1.0', ...order, buildId }),
  )
  return buildId
}

export async function findBuild(world: World, buildId: string) {
  return world.database.db.selectFrom('build').selectAll().where('build_id', '=', buildId).executeTakeFirstOrThrow()
}

export async function findJob(world: World, buildId: string) {
  return world.database.db.selectFrom('build_job').selectAll().where('build_id', '=', buildId).executeTakeFirst()
}

export async function messagesOf(world: World, buildId: string): Promise<string[]> {
  const entries = await readLogPage(world.database.db, buildId, { offset: 0, limit: 100_000 })
  return entries.map(({ message }) => message)
}

/** Waits until the build is ready or has failed. */
export async function waitForEnd(world: World, buildId: string) {
  await waitFor('the end of the build', async () => ['uploaded', 'failed'].includes((await findBuild(world, buildId)).status))
  return findBuild(world, buildId)
}
