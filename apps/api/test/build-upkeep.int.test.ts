import { randomBytes } from 'node:crypto'
import { Secret } from '@sandyard/kit/config/secret'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { DEFAULT_EGRESS } from '@sandyard/runtime/types'
import { randomId } from '@sandyard/kit/ids/ids'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { BuildUpkeep } from '../src/builds/upkeep/build-upkeep.ts'
import { BuildCollector } from '../src/builds/upkeep/collect-builds.ts'
import { collectBuildSandboxes } from '../src/builds/upkeep/collect-build-sandboxes.ts'
import type { RetentionConfig } from '../src/settings/retention.ts'
import { UploadFolder } from '../src/uploads/upload-folder.ts'
import { PLAN, queueBuild } from './support/builds.ts'
import { createWorld, type World } from './support/control-plane.ts'

let world: World
let runtime: FakeRuntime
let upkeep: BuildUpkeep
beforeEach(async () => {
  world = await createWorld()
  runtime = new FakeRuntime({ engine: world.engine })
  upkeep = upkeepWith({ buildLogMs: 30 * DAY_MS, buildMs: 30 * DAY_MS })
})
afterEach(() => world[Symbol.asyncDispose]())

const running = new AbortController().signal
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000]
const hash = (): string => randomBytes(32).toString('hex')
const ago = (time: string) => sql<Date>`clock_timestamp() - ${time}::interval`

function upkeepWith(retention: Pick<RetentionConfig, 'buildLogMs' | 'buildMs'>): BuildUpkeep {
  return new BuildUpkeep({
    database: world.database,
    runtime,
    folder: new UploadFolder(world.uploadsDir),
    config: { cacheLifetimeMs: DAY_MS, timeoutMs: HOUR_MS },
    retention,
    log: silentLogger(),
  })
}

const RESOURCES = { cpuCount: 1, memoryMib: 128, diskMib: 1 }
const RIGHTS = { instanceKey: new Secret('key'), allowPrivilegeGain: true, mounts: [], egress: DEFAULT_EGRESS }
const SPEC = { incarnation: 1, image: 'base:1', resources: RESOURCES, ...RIGHTS }

/** Creates an image of this age. */
async function makeImage(ageMs = 2 * DAY_MS, by = runtime, name = randomId(20)): Promise<string> {
  const spec = { ...SPEC, sandboxId: `i${randomId(20)}` }
  await by.create(spec)
  const { image } = await by.snapshot(spec, { name, keep: 'files' })
  await by.remove(spec)
  Object.assign(world.engine.images.get(image) ?? {}, { createdAt: new Date(Date.now() - ageMs) })
  return image
}

async function makeTemplate(values: { source?: 'template' | 'snapshot' | 'snapshot_template'; deleted?: boolean } = {}): Promise<string> {
  const template_id = randomId(20)
  await world.database.db
    .insertInto('template')
    .values({
      template_id,
      team_id: world.teamId,
      source: values.source ?? 'template',
      ...(values.deleted === true && { deleted_at: ago('2 days') }),
    })
    .execute()
  return template_id
}

async function makeBuild(templateId: string, image: string, tag?: string): Promise<string> {
  const size = { cpu_count: 1, memory_mib: 128, disk_mib: 1 }
  const { build_id } = await world.database.db
    .insertInto('build')
    .values({
      template_id: templateId,
      status: 'uploaded',
      image,
      ...size,
      default_user: 'user',
      default_workdir: '/',
      finished_at: ago('2 days'),
    })
    .returning('build_id')
    .executeTakeFirstOrThrow()
  if (tag !== undefined) await world.database.db.insertInto('tag_assignment').values({ template_id: templateId, build_id, tag }).execute()
  return build_id
}

const age = (buildId: string, time: string) =>
  world.database.db
    .updateTable('build')
    .set({ finished_at: ago(time), created_at: ago(time) })
    .where('build_id', '=', buildId)
    .execute()

async function makeSandbox(templateId: string, buildId: string, state: 'running' | 'paused' | 'killing'): Promise<void> {
  await world.database.db
    .insertInto('sandbox')
    .values({
      sandbox_id: `i${randomId(20)}`,
      incarnation: 1,
      team_id: world.teamId,
      template_id: templateId,
      build_id: buildId,
      state,
      ...(state === 'paused' && { pause_keep: 'files', pause_handle: '{}', paused_at: ago('1 minute') }),
      is_secure: true,
      metadata: '{}',
      started_at: ago('1 hour'),
      expires_at: ago('-1 hour'),
      endpoint_host: '127.0.0.1',
      endpoint_daemon_port: 1,
    })
    .execute()
}

async function makeLayer(image: string, unused: string): Promise<void> {
  await world.database.db
    .insertInto('build_layer')
    .values({ team_id: world.teamId, key: hash(), image, result: '{}', last_used_at: ago(unused) })
    .execute()
}

/** Two passes, because both must find an image unused. */
async function pass(): Promise<void> {
  await upkeep.pass(running)
  await upkeep.pass(running)
}

describe('upkeep of images', () => {
  it.each<[string, 'kept' | 'collected', () => Promise<string>]>([
    ['of a ready build under a tag', 'kept', async () => ofBuild({ tag: 'default' })],
    ['of a ready build without a tag', 'kept', async () => ofBuild({})],
    [
      'of a build superseded by a newer one of its tag',
      'kept',
      async () => {
        const template = await makeTemplate()
        const image = await makeImage()
        await makeBuild(template, image, 'default')
        await makeBuild(template, await makeImage(), 'default')
        return image
      },
    ],
    ['of a snapshot template', 'kept', async () => ofBuild({ source: 'snapshot_template' })],
    ['of a snapshot', 'kept', async () => ofBuild({ source: 'snapshot' })],
    ['of a deleted template', 'collected', async () => ofBuild({ deleted: true, tag: 'default' })],
    ['of a deleted snapshot template', 'collected', async () => ofBuild({ deleted: true, source: 'snapshot_template' })],
    ['of a deleted template with a running sandbox', 'kept', async () => ofBuild({ deleted: true, sandbox: 'running' })],
    ['of a deleted template with a paused sandbox', 'kept', async () => ofBuild({ deleted: true, sandbox: 'paused' })],
    ['of a deleted template with an ending sandbox', 'kept', async () => ofBuild({ deleted: true, sandbox: 'killing' })],
    [
      'that is the source of a queued build, of a deleted template',
      'kept',
      async () => {
        const image = await makeImage()
        const buildId = await makeBuild(await makeTemplate({ deleted: true }), image)
        await queueBuild(world, { plan: { ...PLAN, source: { kind: 'template', reference: 'x', buildId } } })
        return image
      },
    ],
    ['of a layer that was used today', 'kept', async () => ofLayer('23 hours')],
    ['of an unused layer', 'collected', async () => ofLayer('25 hours')],
    [
      'of an unused layer and a build',
      'kept',
      async () => {
        const image = await ofLayer('25 hours')
        await makeBuild(await makeTemplate(), image)
        return image
      },
    ],
    ['without a reference', 'collected', async () => makeImage()],
    ['that is new and has no reference yet', 'kept', async () => makeImage(HOUR_MS)],
    ['of a backup in progress', 'kept', async () => makeImage(23 * HOUR_MS, runtime, 'backup-1')],
    ['of a backup that was killed', 'collected', async () => makeImage(DAY_MS + HOUR_MS, runtime, 'backup-1')],
    ['of another installation', 'kept', async () => makeImage(DAY_MS, new FakeRuntime({ engine: world.engine, installation: 'other' }))],
  ])('%s: %s', async (_, expected, arrange) => {
    const image = await arrange()
    await pass()
    expect(world.engine.images.has(image)).toBe(expected === 'kept')
  })

  it('keeps an image that gets a reference between two passes', async () => {
    const image = await makeImage()
    await upkeep.pass(running)
    expect(world.engine.images.has(image)).toBe(true)
    await makeBuild(await makeTemplate(), image)
    await pass()
    expect(world.engine.images.has(image)).toBe(true)
  })

  it('continues when one image cannot be removed', async () => {
    await makeImage()
    await makeImage()
    runtime.faults.failBefore('images.remove')
    await pass()
    expect(world.engine.images.size).toBe(1)
  })
})

interface Situation {
  readonly source?: 'template' | 'snapshot' | 'snapshot_template'
  readonly deleted?: boolean
  readonly tag?: string
  readonly sandbox?: 'running' | 'paused' | 'killing'
}

async function ofBuild({ tag, sandbox, ...template }: Situation): Promise<string> {
  const templateId = await makeTemplate(template)
  const image = await makeImage()
  const buildId = await makeBuild(templateId, image, tag)
  if (sandbox !== undefined) await makeSandbox(templateId, buildId, sandbox)
  return image
}

async function ofLayer(unused: string): Promise<string> {
  const image = await makeImage()
  await makeLayer(image, unused)
  return image
}

describe('retention of builds', () => {
  const isKept = async (buildId: string): Promise<boolean> =>
    (await world.database.db.selectFrom('build').select('build_id').where('build_id', '=', buildId).executeTakeFirst()) !== undefined

  /** A build of this age, superseded by a newer one of its tag. */
  async function makeSuperseded(time: string): Promise<{ template: string; build: string; image: string }> {
    const template = await makeTemplate()
    const image = await makeImage()
    const build = await makeBuild(template, image, 'default')
    await age(build, time)
    await makeBuild(template, await makeImage(), 'default')
    return { template, build, image }
  }

  it('removes an old build and its image when no tag points to it', async () => {
    const [old, young] = [await makeSuperseded('31 days'), await makeSuperseded('29 days')]
    await pass()
    expect(await isKept(old.build)).toBe(false)
    expect(world.engine.images.has(old.image)).toBe(false)
    expect(await isKept(young.build)).toBe(true)
    expect(world.engine.images.has(young.image)).toBe(true)
  })

  it.each<[string, (old: { template: string; build: string }) => Promise<unknown>]>([
    [
      'that a tag still points to',
      ({ template: template_id, build: build_id }) =>
        world.database.db.insertInto('tag_assignment').values({ template_id, build_id, tag: 'stable' }).execute(),
    ],
    ['that has a sandbox', ({ template, build }) => makeSandbox(template, build, 'paused')],
    [
      'that is the source of a queued job',
      ({ build }) => queueBuild(world, { plan: { ...PLAN, source: { kind: 'template', reference: 'x', buildId: build } } }),
    ],
    [
      'that a sandbox was created from recently',
      ({ template, build }) =>
        sql`
        insert into sandbox_history values ('iused', 1, ${world.teamId}, ${template}, ${build}, null, 'killed', 1, 128, 1, now(), now(), now(), '[]')
      `.execute(world.database.db),
    ],
  ])('keeps a build %s', async (_, use) => {
    const old = await makeSuperseded('31 days')
    await use(old)
    await pass()
    expect(await isKept(old.build)).toBe(true)
    expect(world.engine.images.has(old.image)).toBe(true)
  })

  it('keeps the newest build of a tag and of a template at any age', async () => {
    const template = await makeTemplate()
    const [tagged, newest] = [await makeBuild(template, await makeImage(), 'default'), await makeBuild(template, await makeImage())]
    await age(tagged, '40 days')
    await age(newest, '35 days')
    await pass()
    expect([await isKept(tagged), await isKept(newest)]).toEqual([true, true])
  })

  it('continues in its next turn after the builds that it kept', async () => {
    const kept = []
    for (const time of ['50 days', '49 days', '48 days']) {
      const build = await makeBuild(await makeTemplate(), await makeImage(), 'default')
      await age(build, time)
      kept.push(build)
    }
    const old = await makeSuperseded('40 days')
    const collector = new BuildCollector(world.database.db, { size: 1, most: 2 })
    await collector.collect(30 * DAY_MS)
    expect(await isKept(old.build)).toBe(true)
    await collector.collect(30 * DAY_MS)
    expect(await isKept(old.build)).toBe(false)
    // From the first build again.
    const older = await makeSuperseded('60 days')
    await collector.collect(30 * DAY_MS)
    await collector.collect(30 * DAY_MS)
    expect(await isKept(older.build)).toBe(false)
    for (const build of kept) expect(await isKept(build)).toBe(true)
  })

  it('removes the rows of templates that were deleted long ago', async () => {
    const [old, young] = [await makeTemplate({ deleted: true }), await makeTemplate({ deleted: true })]
    await makeBuild(old, await makeImage())
    await world.database.db
      .updateTable('template')
      .set({ deleted_at: ago('31 days') })
      .where('template_id', '=', old)
      .execute()
    await pass()
    const left = await world.database.db.selectFrom('template').select('template_id').where('template_id', 'in', [old, young]).execute()
    expect(left).toEqual([{ template_id: young }])
  })
})

describe('upkeep of logs and build sandboxes', () => {
  it('removes only the logs of builds that ended long ago and of templates deleted a day ago', async () => {
    const write = async (templateId: string): Promise<string> => {
      const buildId = await makeBuild(templateId, 'x')
      await world.database.db.updateTable('build').set({ log_count: 1 }).where('build_id', '=', buildId).execute()
      await world.database.db
        .insertInto('build_log')
        .values({ build_id: buildId, seq: 1, time: new Date(), level: 'info', step: null, message: 'm' })
        .execute()
      return buildId
    }
    // More than one batch: a pass continues until it is done.
    for (let made = 0; made < 45; made += 1) await write(await makeTemplate({ deleted: true }))
    const long = await write(await makeTemplate())
    await age(long, '31 days')
    const kept = await write(await makeTemplate())
    await upkeep.pass(running)
    expect(await world.database.db.selectFrom('build_log').select('build_id').execute()).toEqual([{ build_id: kept }])
    expect(await world.database.db.selectFrom('build').select('log_count').where('build_id', '=', long).execute()).toEqual([
      { log_count: 0 },
    ])
  })

  it('removes the logs of unused builds and of deleted templates in statements of at most 5,000 lines', async () => {
    const { db } = world.database
    const [template, ofDeleted] = [await makeTemplate(), await makeTemplate({ deleted: true })]
    const unused = await makeBuild(template, 'old')
    await makeBuild(template, 'new')
    await age(unused, '31 days')
    const logs = [unused, await makeBuild(ofDeleted, 'x'), await makeBuild(ofDeleted, 'y')]
    for (const buildId of logs) {
      await db.updateTable('build').set({ log_count: 7000 }).where('build_id', '=', buildId).execute()
      await sql`
        insert into build_log (build_id, seq, time, level, message)
        select ${buildId}::uuid, n, clock_timestamp(), 'info', 'm' from generate_series(1, 7000) as n
      `.execute(db)
    }
    await db
      .updateTable('template')
      .set({ deleted_at: ago('31 days') })
      .where('template_id', '=', ofDeleted)
      .execute()
    await sql`create table deletion (lines integer)`.execute(db)
    await sql`
      create function note_deletion() returns trigger language plpgsql
      as 'begin insert into deletion select count(*) from gone having count(*) > 0; return null; end'
    `.execute(db)
    await sql`
      create trigger note_deletion after delete on build_log referencing old table as gone for each statement execute function note_deletion()
    `.execute(db)
    // The log of the unused build is younger than the retention of logs.
    await upkeepWith({ buildLogMs: 60 * DAY_MS, buildMs: 30 * DAY_MS }).pass(running)
    const { rows } = await sql<{ most: number; all: number }>`select max(lines) as most, sum(lines)::integer as all from deletion`.execute(
      db,
    )
    expect(rows).toEqual([{ most: 5000, all: 21_000 }])
    expect(await db.selectFrom('build').select('build_id').where('build_id', 'in', logs).execute()).toEqual([])
  })

  it('starts no step after its signal', async () => {
    const image = await makeImage()
    await upkeep.pass(AbortSignal.abort())
    await upkeep.pass(AbortSignal.abort())
    expect(world.engine.images.has(image)).toBe(true)
    await pass()
    expect(world.engine.images.has(image)).toBe(false)
  })

  it('removes orphaned build sandboxes', async () => {
    for (const sandboxId of ['bowned', 'borphan', 'breleased', 'isandbox']) await runtime.create({ ...SPEC, sandboxId })
    await runtime.create({ ...SPEC, sandboxId: 'borphan', incarnation: 2 })
    const owned = await queueBuild(world)
    const released = await queueBuild(world)
    const { db } = world.database
    await db
      .updateTable('build_job')
      .set({ server_id: 1, lease_until: new Date(), sandbox_id: 'bowned' })
      .where('build_id', '=', owned)
      .execute()
    await db.updateTable('build_job').set({ sandbox_id: 'breleased' }).where('build_id', '=', released).execute()
    await collectBuildSandboxes({ database: world.database, runtime, log: silentLogger() })
    expect((await runtime.list()).map(({ sandboxId }) => sandboxId).sort()).toEqual(['bowned', 'isandbox'])
  })
})
