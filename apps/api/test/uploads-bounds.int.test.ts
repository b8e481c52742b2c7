import { randomBytes } from 'node:crypto'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { ARCHIVE_LIMITS } from '@sandyard/kit/archive/entry-rules'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { UPLOAD_BOUNDS, type UploadBounds } from '../src/uploads/upload-bounds.ts'
import { UploadFolder } from '../src/uploads/upload-folder.ts'
import { UploadStore } from '../src/uploads/upload-store.ts'
import { createWorld, waitFor, type World } from './support/control-plane.ts'

const MIB = 1024 ** 2
const FULL = 256 * MIB

/** A disk whose free bytes are told one after the other, the last one again and again. */
class ToldFolder extends UploadFolder {
  readonly #free: number[]

  constructor(root: string, ...free: number[]) {
    super(root)
    this.#free = free
  }

  override async freeBytes(): Promise<number> {
    return (this.#free.length > 1 ? this.#free.shift() : this.#free[0]) ?? 0
  }
}

/** Notes the open files among those on their way, when an upload is about to count. */
class OpenFilesFolder extends UploadFolder {
  openFiles: string[] | undefined

  override async accept(...args: Parameters<UploadFolder['accept']>): Promise<void> {
    const names = await readdir('/proc/self/fd')
    const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
    this.openFiles = targets.filter((target) => target.includes('/incoming/') && target.startsWith(world.uploadsDir))
    await super.accept(...args)
  }
}

let world: World
let archive: Buffer
beforeAll(async () => {
  world = await createWorld()
  const packing = pack()
  packing.entry({ name: 'a.txt' }, 'x')
  packing.finalize()
  archive = await buffer(packing)
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => expect(await leftovers()).toEqual([]))

const leftovers = (): Promise<string[]> => readdir(join(world.uploadsDir, 'incoming')).catch(() => [])
const whole = (bytes = archive): Readable => Readable.from([bytes], { objectMode: false })

function createStore(folder = new UploadFolder(world.uploadsDir), bounds: Partial<UploadBounds> = {}) {
  const store = new UploadStore({ database: world.database, folder, limits: ARCHIVE_LIMITS, bounds: { ...UPLOAD_BOUNDS, ...bounds } })
  const take = (body: Readable, sizeBytes = archive.length, teamId = world.teamId): Promise<void> =>
    store.take({ teamId, hash: randomBytes(32).toString('hex') }, { body, sizeBytes })
  return { store, take }
}

describe('[PUT /uploads/{teamID}/{hash}] under load', () => {
  it('refuses an upload when the disk fills during it, and keeps no file', async () => {
    const { take } = createStore(new ToldFolder(world.uploadsDir, FULL + 8 * MIB, FULL - 1))
    const body = Readable.from([Buffer.alloc(5 * MIB), Buffer.alloc(1000)], { objectMode: false })
    await expect(take(body, 5 * MIB + 1000)).rejects.toMatchObject({ kind: 'insufficient_storage' })
    expect(body.readableEnded).toBe(true)
    expect(await leftovers()).toEqual([])
  })

  it('reserves no space for a declared size', async () => {
    const { take } = createStore(new ToldFolder(world.uploadsDir, FULL + archive.length))
    const slow = new PassThrough()
    const silent = take(slow)
    await waitFor('the slow one', async () => (await leftovers()).length === 1)
    await take(whole())
    slow.destroy()
    await expect(silent).rejects.toMatchObject({ kind: 'canceled' })
  })

  it('reads a limited number of uploads of a team at once, lets further ones wait unread and refuses the rest', async () => {
    const other = await seedIdentity(world.database, { teamName: 'Other', email: 'other@acme.test' })
    const { store, take } = createStore(undefined, { atOnce: 1, waiting: 2 })
    const slow = new PassThrough()
    const first = take(slow)
    const waiting = whole()
    const second = take(waiting)
    const gone = new PassThrough()
    const third = take(gone)
    expect(() => store.assertRoom(world.teamId)).toThrow('The team has 3 uploads under way')
    await expect(take(whole())).rejects.toMatchObject({ kind: 'resource_exhausted', headers: { 'retry-after': '30' } })
    await take(whole(), archive.length, other.teamId)
    expect(waiting.readableDidRead).toBe(false)

    gone.destroy()
    slow.end(archive)
    const outcomes = [first, second, expect(third).rejects.toMatchObject({ kind: 'canceled' })]
    await Promise.all(outcomes)
    store.assertRoom(world.teamId)
  })

  it('holds no descriptor for an archive that waits for its check or for the database', async () => {
    const folder = new OpenFilesFolder(world.uploadsDir)
    await createStore(folder).take(whole())
    expect(folder.openFiles).toEqual([])
  })

  it('refuses an archive whose check exceeds its deadline, and keeps no file', async () => {
    const { take } = createStore(undefined, { checkMs: 1 })
    const blocks = Array.from({ length: 20_000 }, () => archive.subarray(0, 1024))
    const bytes = Buffer.concat([...blocks, archive])
    await expect(take(whole(bytes), bytes.length)).rejects.toMatchObject({
      kind: 'invalid_argument',
      message: 'the archive was refused: to read it through takes more than 0.001 seconds, so copy fewer or smaller files in one step',
    })
    expect(await leftovers()).toEqual([])
  })
})

describe('the stored bytes of a team', () => {
  const size = (): number => archive.length
  const newTeam = async (): Promise<string> =>
    (await seedIdentity(world.database, { teamName: randomBytes(6).toString('hex'), email: `${randomBytes(6).toString('hex')}@b.test` }))
      .teamId
  const put = (store: UploadStore, teamId: string, hash = randomBytes(32).toString('hex')): Promise<void> =>
    store.take({ teamId, hash }, { body: whole(), sizeBytes: archive.length })

  it('are limited, over concurrent uploads, and an upload of the same key replaces the former one', async () => {
    const teamId = await newTeam()
    const storage = { maxStoredBytes: 2 * size() }
    await using store = new UploadStore({
      database: world.database,
      folder: new UploadFolder(world.uploadsDir),
      limits: ARCHIVE_LIMITS,
      storage,
    })
    const results = await Promise.allSettled([0, 1, 2, 3].map(() => put(store, teamId)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    for (const reason of reasons) {
      expect(reason).toMatchObject({
        kind: 'insufficient_storage',
        message: `The team would store more than ${2 * size()} bytes in volumes and uploads. On this server the limit is the setting SANDYARD_MAX_STORED.`,
      })
    }
    const { hash } = await world.database.db
      .selectFrom('layer_upload')
      .select('hash')
      .where('team_id', '=', teamId)
      .executeTakeFirstOrThrow()
    await put(store, teamId, hash)
    await world.database.db
      .updateTable('team')
      .set({ max_stored_bytes: 3 * size() })
      .where('id', '=', teamId)
      .execute()
    await put(store, teamId)
    await expect(put(store, teamId)).rejects.toThrow('the limit is that of the team')
    await put(store, await newTeam())
    expect(await leftovers()).toEqual([])
  })
})
