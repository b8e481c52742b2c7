import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { collectVolumes } from '../src/volumes/collect-volumes.ts'
import { measureVolumes } from '../src/volumes/measure-volumes.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let origin: string
let volume: { readonly volumeID: string; readonly token: string }
let count = 0

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ capabilities: { mounts: true } })
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  await setLimit(null)
  volume = (await api.call('POST', '/volumes', { body: { name: `data${(count += 1)}` } })).body
  await setLimit((await stored()) + 1000)
})

const stored = async (): Promise<number> => (await api.call('GET', `/teams/${world.teamId}/limits`)).body.maxStoredBytes.used
const setLimit = (bytes: number | null) =>
  world.database.db.updateTable('team').set({ max_stored_bytes: bytes }).where('id', '=', world.teamId).execute()
const reservations = async (): Promise<number> => (await world.database.db.selectFrom('volume_upload').select('upload_id').execute()).length
const forgetClaims = () => world.database.db.deleteFrom('server_setting').where('name', 'like', 'volumes_%').execute()

interface Upload {
  readonly sending: ClientRequest
  readonly answered: Promise<{ readonly status: number; readonly code: string | undefined }>
}

/** Begins an upload; without a length when none is given. */
function begin(length?: number): Upload {
  const url = `${origin}/volumecontent/${volume.volumeID}/file?path=/f${(count += 1)}`
  const headers = { authorization: `Bearer ${volume.token}`, ...(length !== undefined && { 'content-length': length }) }
  const sending = request(url, { method: 'PUT', headers })
  const { promise: answered, resolve, reject } = Promise.withResolvers<Awaited<Upload['answered']>>()
  const read = async (answer: IncomingMessage): Promise<void> => {
    const text = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>)).toString()
    resolve({ status: answer.statusCode ?? 0, code: (JSON.parse(text) as { readonly code?: string }).code })
  }
  sending.on('error', reject).on('response', (answer) => void read(answer).catch(reject))
  answered.catch(() => undefined)
  return { sending, answered }
}

async function put(bytes: number, length?: number): Promise<{ readonly status: number; readonly code: string | undefined }> {
  const upload = begin(length)
  upload.sending.end(Buffer.alloc(bytes))
  return upload.answered
}

const STORED = { status: 201, code: undefined }
const REFUSED = { status: 507, code: 'INSUFFICIENT_STORAGE' }

describe('the limit of stored bytes', () => {
  it('holds for uploads without a length, which count at once', async () => {
    const before = await stored()
    expect(await put(600)).toEqual(STORED)
    expect((await stored()) - before).toBe(600)
    expect(await put(600)).toEqual(REFUSED)
    expect((await stored()) - before).toBe(600)
    expect(await put(400)).toEqual(STORED)
    expect(await reservations()).toBe(0)
  })

  it('ends an upload without a length in the middle, and stores nothing of it', async () => {
    await setLimit((await stored()) + 4_000_000)
    expect(await put(40_000_000)).toEqual(REFUSED)
    expect(await put(4_000_000)).toEqual(STORED)
  })

  it.each([600, undefined])('holds for uploads at once (length: %s)', async (length) => {
    const first = begin(length)
    first.sending.write(Buffer.alloc(1))
    await waitFor('the reservation', async () => (await reservations()) === 1)
    expect(await put(600, 600)).toEqual(REFUSED)
    first.sending.destroy()
    await waitFor('the end of the reservation', async () => (await reservations()) === 0)
    expect(await put(600, 600)).toEqual(STORED)
  })

  it('counts what a dead server had in flight until it expires', async () => {
    const row = { upload_id: crypto.randomUUID(), volume_id: volume.volumeID, team_id: world.teamId, bytes: 600 }
    const hour = 3_600_000
    await world.database.db
      .insertInto('volume_upload')
      .values({ ...row, expires_at: new Date(Date.now() + hour) })
      .execute()
    expect(await put(600, 600)).toEqual(REFUSED)
    await world.database.db
      .updateTable('volume_upload')
      .set({ expires_at: new Date(Date.now() - hour) })
      .execute()
    expect(await put(600, 600)).toEqual(STORED)
    await collectVolumes({ ...api.ctx, log: api.ctx.log.sandboxes })
    expect(await reservations()).toBe(0)
  })

  it('counts what is written while the volumes are measured', async () => {
    const before = await stored()
    expect(await put(100, 100)).toEqual(STORED)
    await forgetClaims()
    const hold = api.runtime.faults.hold('volumes.sizes', 'after')
    const measuring = measureVolumes({ ...api.ctx, log: api.ctx.log.sandboxes })
    await hold.reached
    expect(await put(600, 600)).toEqual(STORED)
    hold.release()
    await measuring
    expect((await stored()) - before).toBe(700)
  })
})
