import { Secret } from '@sandyard/kit/config/secret'
import { randomId } from '@sandyard/kit/ids/ids'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import { DEFAULT_EGRESS } from '@sandyard/runtime/types'
import { ensureInstallation } from '../../src/settings/installation.ts'
import type { BuildPlan, BuildResult } from '../../src/builds/build-plan.ts'
import type { BuildJob, BuildRunner } from '../../src/builds/build-runner.ts'
import { listLogsByOffset } from '../../src/builds/read/build-logs.ts'
import { enqueueBuild, type BuildOrder } from '../../src/builds/queue/enqueue-build.ts'
import { waitFor, type World } from './control-plane.ts'

export const PLAN: BuildPlan = { source: { kind: 'image', reference: 'debian' }, steps: [], force: false }

/** A registered build in the state that the routes create. Default: of the template `base`. */
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

/** Registers and queues a build. */
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

export async function isUploaded(world: World, buildId: string): Promise<boolean> {
  return (await findBuild(world, buildId)).status === 'uploaded'
}

/** Whether a server has taken the build and not returned it. When the answer of its claim was lost, this is until the end of its lease. */
export async function isClaimed(world: World, buildId: string): Promise<boolean> {
  return typeof (await findJob(world, buildId))?.server_id === 'number'
}

export async function messagesOf(world: World, buildId: string): Promise<string[]> {
  const entries = await listLogsByOffset(world.database.db, { buildId, offset: 0, limit: 100_000 })
  return entries.map(({ message }) => message)
}

/** Waits until the build is ready or has failed. */
export async function waitForEnd(world: World, buildId: string) {
  await waitFor('the end of the build', async () => ['uploaded', 'failed'].includes((await findBuild(world, buildId)).status))
  return findBuild(world, buildId)
}

/** A runner for a runtime without processes: starts a sandbox, writes a log line, makes an image. */
export function runnerOn(runtime: SandboxRuntime): BuildRunner {
  return async ({ sandboxId, resources, log }, signal) => {
    const ref = { sandboxId, incarnation: 1 }
    try {
      await runtime.create(
        {
          ...ref,
          image: 'base:1',
          resources,
          instanceKey: new Secret('key'),
          allowPrivilegeGain: true,
          mounts: [],
          egress: DEFAULT_EGRESS,
        },
        signal,
      )
      log.write({ level: 'info', message: 'a step', step: '1' })
      await log.flush()
      const { image } = await runtime.snapshot(ref, { name: `layer-${randomId(12)}`, keep: 'files' })
      return { image, defaultUser: 'user', defaultWorkdir: '/home/user', env: {} }
    } finally {
      await runtime.remove(ref)
    }
  }
}

/** A runner that a test controls: every call waits until the test finishes it or its signal aborts. */
export class HeldRunner {
  readonly calls: { readonly job: BuildJob; readonly signal: AbortSignal; finish(): void }[] = []
  /** Ignores the abort signal. */
  isDeaf = false

  readonly run: BuildRunner = async (job, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<BuildResult>()
    const result = { image: `built:${job.buildId}`, defaultUser: 'user', defaultWorkdir: '/', env: {} }
    this.calls.push({ job, signal, finish: () => resolve(result) })
    if (!this.isDeaf) signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    return promise
  }

  /** Waits for the call with this index, from 0. */
  async call(index: number) {
    await waitFor(`call ${index} of the runner`, () => this.calls.length > index)
    const call = this.calls[index]
    if (call === undefined) throw new Error('there is no such call')
    return call
  }
}
