import { randomBytes } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { randomId } from '@sandyard/kit/ids/ids'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import type { BuildPlan } from '../src/builds/build-plan.ts'
import { BuildUpkeep } from '../src/builds/upkeep/build-upkeep.ts'
import { collectBuildSandboxes } from '../src/builds/upkeep/collect-build-sandboxes.ts'
import { UploadFolder } from '../src/uploads/upload-folder.ts'
import { PLAN, queueBuild } from './support/builds.ts'
import { createWorld, type World } from './support/control-plane.ts'

let world: World
let runtime: FakeRuntime
let upkeep: BuildUpkeep
beforeEach(async () => {
  world = await createWorld()
  runtime = new FakeRuntime({ engine: world.engine })
  const config = { cacheLifetimeMs: DAY_MS, timeoutMs: HOUR_MS }
  upkeep = new BuildUpkeep({ database: world.database, runtime, folder: new UploadFolder(world.uploadsDir), config, log: silentLogger() })
})
afterEach(() => world[Symbol.asyncDispose]())

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const hash = (): string => randomBytes(32).toString('hex')
const ago = (time: string) => sql<Date>`clock_timestamp() - ${time}::interval`

/** An image that was made some time ago. */
async function makeImage(ageMs = 2 * DAY_MS, by = runtime): Promise<string> {
  const spec = { sandboxId: `i${randomId(20)}`, incarnation: 1, image: 'base:1' }
  await by.create({ ...spec, resources: { cpuCount: 1, memoryMib: 128, diskMib: 1 }, daemonEnv: {}, allowPrivilegeGain: true })
  const { image } = await by.snapshot(spec, randomId(20))
  await by.remove(spec)
  const made = world.engine.images.get(image)
  if (made === undefined) throw new Error('the image is not there')
  world.engine.images.set(image, { ...made, createdAt: new Date(Date.now() - ageMs) })
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

/** Twice, because an image has to be found unneeded by two passes. */
async function pass(): Promise<void> {
  await upkeep.pass()
  await upkeep.pass()
}

describe('upkeep of images', () => {
  it.each<[string, 'kept' | 'collected', () => Promise<string>]>([
    ['of a ready build under a tag', 'kept', async () => ofBuild({ tag: 'default' })],
    ['of a ready build without a tag', 'kept', async () => ofBuild({})],
    [
      'of a build that a newer one of its tag has followed',
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
    ['of a deleted template with a sandbox that ends', 'kept', async () => ofBuild({ deleted: true, sandbox: 'killing' })],
    [
      'that a build in the queue begins with, though its template was deleted',
      'kept',
      async () => {
        const image = await makeImage()
        const buildId = await makeBuild(await makeTemplate({ deleted: true }), image)
        await queueBuild(world, { plan: { ...PLAN, source: { kind: 'template', reference: 'x', buildId } } })
        return image
      },
    ],
    ['of a layer that was asked for today', 'kept', async () => ofLayer('23 hours')],
    ['of a layer that nobody asked for', 'collected', async () => ofLayer('25 hours')],
    [
      'of a layer that nobody asked for and a build',
      'kept',
      async () => {
        const image = await ofLayer('25 hours')
        await makeBuild(await makeTemplate(), image)
        return image
      },
    ],
    ['that nothing names', 'collected', async () => makeImage()],
    ['that nothing names yet', 'kept', async () => makeImage(HOUR_MS)],
    ['of another installation', 'kept', async () => makeImage(DAY_MS, new FakeRuntime({ engine: world.engine, installation: 'other' }))],
  ])('%s: %s', async (_, expected, arrange) => {
    const image = await arrange()
    await pass()
    expect(world.engine.images.has(image)).toBe(expected === 'kept')
  })

  it('needs two passes, and a look at the database that works', async () => {
    const image = await makeImage()
    await upkeep.pass()
    expect(world.engine.images.has(image)).toBe(true)
    await makeBuild(await makeTemplate(), image)
    await pass()
    expect(world.engine.images.has(image)).toBe(true)
  })

  it('goes on when one cannot be removed', async () => {
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

describe('upkeep of uploads', () => {
  const planOf = (filesHash: string): BuildPlan => ({ ...PLAN, steps: [{ type: 'COPY', args: ['a', 'b'], filesHash, force: false }] })

  async function makeUpload(parts: { row?: string; file?: boolean; fileAgeMs?: number } = {}): Promise<string> {
    const key = hash()
    const { row, file = true, fileAgeMs = 2 * DAY_MS } = parts
    if (row !== undefined) {
      const values = { team_id: world.teamId, hash: key, size_bytes: 1, last_used_at: ago(row) }
      await world.database.db.insertInto('layer_upload').values(values).execute()
    }
    if (file) await makeFile(join(world.teamId, `${key}.tar`), fileAgeMs)
    return key
  }

  async function makeFile(name: string, ageMs: number): Promise<void> {
    const path = join(world.uploadsDir, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, 'x')
    const at = new Date(Date.now() - ageMs)
    await utimes(path, at, at)
  }

  const state = async (key: string): Promise<string> => {
    const row = await world.database.db.selectFrom('layer_upload').select('hash').where('hash', '=', key).executeTakeFirst()
    const files = await readdir(join(world.uploadsDir, world.teamId)).catch((): string[] => [])
    return `${row === undefined ? 'no row' : 'row'}, ${files.includes(`${key}.tar`) ? 'file' : 'no file'}`
  }

  it.each<[string, string, () => Promise<string>]>([
    ['asked for today', 'row, file', () => makeUpload({ row: '23 hours' })],
    ['that nobody asked for', 'no row, no file', () => makeUpload({ row: '25 hours' })],
    [
      'that a queued build names',
      'row, file',
      async () => {
        const key = await makeUpload({ row: '25 hours' })
        await queueBuild(world, { plan: planOf(key) })
        return key
      },
    ],
    [
      'that a running build names',
      'row, file',
      async () => {
        const key = await makeUpload({ row: '25 hours' })
        const buildId = await queueBuild(world, { plan: planOf(key) })
        await world.database.db
          .updateTable('build_job')
          .set({ server_id: 1, lease_until: ago('-1 hour') })
          .where('build_id', '=', buildId)
          .execute()
        return key
      },
    ],
    ['whose row was never written', 'no row, no file', () => makeUpload()],
    ['whose row is not written yet', 'no row, file', () => makeUpload({ fileAgeMs: 1000 })],
    ['whose file is lost', 'no row, no file', () => makeUpload({ row: '1 hour', file: false })],
  ])('%s: %s', async (_, expected, arrange) => {
    const key = await arrange()
    await pass()
    expect(await state(key)).toBe(expected)
  })

  it('leaves what arrives alone, and whatever else lies there', async () => {
    await makeFile('incoming/young', 1000)
    await makeFile('incoming/old', 2 * HOUR_MS)
    await makeFile('README', 2 * DAY_MS)
    await makeFile(join(world.teamId, 'notes'), 2 * DAY_MS)
    await pass()
    expect((await readdir(world.uploadsDir, { recursive: true })).sort()).toEqual(
      ['README', world.teamId, join(world.teamId, 'notes'), 'incoming', 'incoming/young'].sort(),
    )
  })
})

describe('upkeep of logs and build sandboxes', () => {
  it('forgets the logs of templates that were deleted a day ago, and no others', async () => {
    const write = async (templateId: string): Promise<string> => {
      const buildId = await makeBuild(templateId, 'x')
      await world.database.db.updateTable('build').set({ log_count: 1 }).where('build_id', '=', buildId).execute()
      await world.database.db
        .insertInto('build_log')
        .values({ build_id: buildId, seq: 1, time: new Date(), level: 'info', step: null, message: 'm' })
        .execute()
      return buildId
    }
    await write(await makeTemplate({ deleted: true }))
    const kept = await write(await makeTemplate())
    await pass()
    expect(await world.database.db.selectFrom('build_log').select('build_id').execute()).toEqual([{ build_id: kept }])
  })

  it('removes the sandboxes of builds that nobody works at', async () => {
    const spec = { image: 'base:1', resources: { cpuCount: 1, memoryMib: 128, diskMib: 1 }, daemonEnv: {}, allowPrivilegeGain: true }
    for (const sandboxId of ['bowned', 'borphan', 'breleased', 'isandbox']) await runtime.create({ ...spec, sandboxId, incarnation: 1 })
    await runtime.create({ ...spec, sandboxId: 'borphan', incarnation: 2 })
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
