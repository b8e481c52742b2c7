import { randomBytes } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import type { BuildPlan } from '../src/builds/build-plan.ts'
import { BuildUpkeep } from '../src/builds/upkeep/build-upkeep.ts'
import { UploadFolder } from '../src/uploads/upload-folder.ts'
import { PLAN, queueBuild } from './support/builds.ts'
import { createWorld, type World } from './support/control-plane.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const hash = (): string => randomBytes(32).toString('hex')
const ago = (time: string) => sql<Date>`clock_timestamp() - ${time}::interval`

let world: World
let upkeep: BuildUpkeep
const running = new AbortController().signal
beforeEach(async () => {
  world = await createWorld()
  upkeep = new BuildUpkeep({
    database: world.database,
    runtime: new FakeRuntime({ engine: world.engine }),
    folder: new UploadFolder(world.uploadsDir),
    config: { cacheLifetimeMs: DAY_MS, timeoutMs: HOUR_MS },
    retention: { buildLogMs: 30 * DAY_MS, buildMs: 30 * DAY_MS },
    log: silentLogger(),
  })
})
afterEach(() => world[Symbol.asyncDispose]())

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
    ['used today', 'row, file', () => makeUpload({ row: '23 hours' })],
    ['that is unused', 'no row, no file', () => makeUpload({ row: '25 hours' })],
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
    ['whose row was never stored', 'no row, no file', () => makeUpload()],
    ['whose row is not stored yet', 'no row, file', () => makeUpload({ fileAgeMs: 1000 })],
    ['whose file is lost', 'no row, no file', () => makeUpload({ row: '1 hour', file: false })],
  ])('%s: %s', async (_, expected, arrange) => {
    const key = await arrange()
    await upkeep.pass(running)
    expect(await state(key)).toBe(expected)
  })

  it('keeps running uploads and foreign files', async () => {
    await makeFile('incoming/young', 1000)
    await makeFile('incoming/old', 2 * HOUR_MS)
    await makeFile('README', 2 * DAY_MS)
    await makeFile(join(world.teamId, 'notes'), 2 * DAY_MS)
    await upkeep.pass(running)
    expect((await readdir(world.uploadsDir, { recursive: true })).sort()).toEqual(
      ['README', world.teamId, join(world.teamId, 'notes'), 'incoming', 'incoming/young'].sort(),
    )
  })
})
