import { decodeJwt, SignJWT } from 'jose'
import { request } from 'node:http'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '@sandyard/kit/errors/app-error'
import { deriveKey } from '../src/settings/installation.ts'
import { issueContentToken } from '../src/volumes/content-token.ts'
import { addCaller } from './support/build-callers.ts'
import { ADMIN_TOKEN, createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let origin: string
let volume: Made
let count = 0

interface Made {
  readonly volumeID: string
  readonly token: string
}

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ capabilities: { mounts: true }, app: { bodyTimeoutMs: 2000 } })
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 })
  volume = await addVolume()
})
afterAll(() => world[Symbol.asyncDispose]())

const addVolume = async (): Promise<Made> => (await api.call('POST', '/volumes', { body: { name: `data${(count += 1)}` } })).body
const newPath = (): string => `/file ü${(count += 1)}`

interface CallOptions {
  readonly body?: string | Buffer
  readonly token?: string | null
  readonly headers?: Record<string, string>
  readonly of?: string
}

/** Calls an operation as `PUT file`, with the query. */
async function call(operation: string, query: Record<string, string>, { body, token = volume.token, headers, of }: CallOptions = {}) {
  const [method = '', route = ''] = operation.split(' ')
  const url = `${origin}/volumecontent/${of ?? volume.volumeID}/${route}?${new URLSearchParams(query).toString()}`
  const answer = await fetch(url, {
    method,
    headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body }),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined,
  }
}

const put = (path: string, text: string, options: Record<string, string> = {}) => call('PUT file', { path, ...options }, { body: text })

/** Sends the first of two bytes. */
function beginBody(method: string, route: string, path: string) {
  const url = `${origin}/volumecontent/${volume.volumeID}/${route}?path=${encodeURIComponent(path)}`
  const headers = { authorization: `Bearer ${volume.token}`, 'content-type': 'application/json', 'content-length': 2 }
  const sending = request(url, { method, headers })
  const answered = new Promise<number>((resolve, reject) => {
    sending.on('response', (answer) => resolve(answer.resume().statusCode ?? 0)).on('error', reject)
  })
  sending.write('{')
  return { sending, answered }
}

describe('[PUT /volumecontent/{volumeID}/file] [GET /volumecontent/{volumeID}/file]', () => {
  it('stores a file and returns its bytes', async () => {
    const path = newPath()
    const stored = await put(path, 'hello', { mode: '384' })
    expect([stored.status, stored.json]).toEqual([201, expect.objectContaining({ path, type: 'file', size: 5, mode: 0o600 })])
    const read = await call('GET file', { path })
    expect([read.status, read.text]).toEqual([200, 'hello'])
    expect(read.headers.get('content-type')).toBe('application/octet-stream')
    expect(read.headers.get('content-length')).toBe('5')
  })

  it('returns the part of a file that is asked for', async () => {
    const path = newPath()
    await put(path, 'hello')
    const read = await call('GET file', { path }, { headers: { range: 'bytes=2-' } })
    expect([read.status, read.text, read.headers.get('content-range')]).toEqual([206, 'llo', 'bytes 2-4/5'])
  })

  it('passes on a file of many megabytes, also in chunks and with JSON as its type, without its content', async () => {
    const path = newPath()
    const bytes = Buffer.alloc(24 * 1024 ** 2, 'abc')
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 1024 ** 2) controller.enqueue(bytes.subarray(at, at + 1024 ** 2))
        controller.close()
      },
    })
    const init = { body, duplex: 'half' } as RequestInit
    const url = `${origin}/volumecontent/${volume.volumeID}/file?path=${encodeURIComponent(path)}`
    const headers = { authorization: `Bearer ${volume.token}`, 'content-type': 'application/json' }
    expect((await fetch(url, { ...init, method: 'PUT', headers })).status).toBe(201)
    const read = await fetch(url, { headers })
    expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true)
  })

  it('answers a refused upload although the client still sends, and the connection can be used again', async () => {
    const path = newPath()
    await put(path, 'first')
    const again = await call('PUT file', { path }, { body: Buffer.alloc(32 * 1024 ** 2) })
    expect([again.status, again.json.code]).toEqual([409, 'PATH_ALREADY_EXISTS'])
    expect((await put(path, 'second', { force: 'true' })).status).toBe(201)
    expect((await call('GET file', { path })).text).toBe('second')
  })

  it('stores nothing of an upload whose client goes away', async () => {
    const path = newPath()
    const url = `${origin}/volumecontent/${volume.volumeID}/file?path=${encodeURIComponent(path)}`
    const sending = request(url, { method: 'PUT', headers: { authorization: `Bearer ${volume.token}`, 'content-length': 10_000_000 } })
    sending.on('error', () => undefined)
    sending.write(Buffer.alloc(100_000))
    const folder = world.engine.volumes.pathOf(`fake/${volume.volumeID}`)
    const beside = join(folder, `.upload-${path.slice(1)}`)
    const exists = (file: string) =>
      stat(file).then(
        () => true,
        () => false,
      )
    await waitFor('the upload to begin', () => exists(beside))
    sending.destroy()
    await waitFor('the rest of the upload to be removed', async () => !(await exists(beside)))
    expect((await call('GET path', { path })).status).toBe(404)
  })

  it('lets an upload take longer than other bodies may', async () => {
    const upload = beginBody('PUT', 'file', newPath())
    const other = beginBody('PATCH', 'path', '/')
    expect(await other.answered).toBe(408)
    upload.sending.end('}')
    expect(await upload.answered).toBe(201)
  })
})

describe('[GET /volumecontent/{volumeID}/path] [PATCH /volumecontent/{volumeID}/path] [DELETE /volumecontent/{volumeID}/path]', () => {
  it('returns, changes and deletes an entry', async () => {
    const path = newPath()
    await put(path, 'hello')
    expect((await call('GET path', { path })).json).toMatchObject({ name: path.slice(1), path, size: 5 })
    const changed = await call('PATCH path', { path }, { body: '{"mode":320}', headers: { 'content-type': 'application/json' } })
    expect([changed.status, changed.json.mode]).toEqual([200, 0o500])
    expect((await call('PATCH path', { path })).json.mode).toBe(0o500)
    const deleted = await call('DELETE path', { path })
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    const gone = await call('GET path', { path })
    expect([gone.status, gone.json]).toEqual([404, { code: 'PATH_NOT_FOUND', message: `failed to stat: "${path}" not found.` }])
    expect(gone.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  it.each([['{"mode":"a"}'], ['{"uid":-1}'], ['{"gid":4294967296}'], ['[]'], ['{']])('refuses the change %s', async (body) => {
    const { status, json } = await call('PATCH path', { path: '/' }, { body, headers: { 'content-type': 'application/json' } })
    expect([status, json]).toEqual([400, { code: 'INVALID_REQUEST', message: expect.stringMatching(/./) }])
  })

  it('passes on what the file service refuses', async () => {
    const { status, json } = await call('DELETE path', { path: '/' })
    expect([status, json]).toEqual([400, { code: 'CANNOT_DELETE_ROOT', message: 'cannot delete root' }])
  })
})

describe('[POST /volumecontent/{volumeID}/dir] [GET /volumecontent/{volumeID}/dir]', () => {
  it('makes and lists directories', async () => {
    const own = await addVolume()
    const options = { token: own.token, of: own.volumeID }
    expect((await call('POST dir', { path: '/a/b', force: 'true' }, options)).status).toBe(201)
    const ignored = { ...options, body: '{"ignored":1}', headers: { 'content-type': 'application/json' } }
    expect((await call('POST dir', { path: '/c' }, ignored)).status).toBe(201)
    const pathsOf = (list: readonly { readonly path: string }[]) => list.map(({ path }) => path)
    expect(pathsOf((await call('GET dir', { path: '/' }, options)).json)).toEqual(['/a', '/c'])
    expect(pathsOf((await call('GET dir', { path: '/', depth: '2' }, options)).json)).toEqual(['/a', '/a/b', '/c'])
    const tooDeep = await call('GET dir', { path: '/', depth: '11' }, options)
    expect([tooDeep.status, tooDeep.json.code]).toEqual([400, 'DEPTH_OUT_OF_RANGE'])
  })
})

describe('a request that is not valid', () => {
  it.each([
    ['GET path', {}],
    ['GET path', { path: '' }],
    ['GET dir', { path: '/', depth: 'x' }],
    ['GET dir', { path: '/', depth: '-1' }],
    ['PUT file', { path: '/a', mode: 'rwx' }],
    ['POST dir', { path: '/a', force: 'maybe' }],
    ['PUT file', { path: '/a', uid: '4294967296' }],
  ] as const)('is refused: %s %j', async (operation, query) => {
    const { status, json } = await call(operation, query)
    expect([status, json]).toEqual([400, { code: 'INVALID_REQUEST', message: expect.stringMatching(/^validation error/) }])
  })
})

const OPERATIONS = ['GET path', 'PATCH path', 'DELETE path', 'GET dir', 'POST dir', 'GET file', 'PUT file']

describe('the token of a volume', () => {
  const sign = async (
    claims: object,
    key = deriveKey(api.ctx.installation.tokenSeed, 'volume content'),
    alg = 'HS256',
  ): Promise<string> => {
    const issuer = `https://api.${api.ctx.config.domain}`
    const now = Math.floor(Date.now() / 1000)
    const all = {
      iss: issuer,
      aud: issuer,
      sub: world.teamId,
      volid: volume.volumeID,
      acc: 'rw',
      by: { admin: true },
      iat: now,
      exp: now + 60,
      ...claims,
    }
    return new SignJWT(all).setProtectedHeader({ alg }).sign(key)
  }
  const unsigned = (claims: object): string =>
    `${[{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`

  it.each(OPERATIONS)('is needed before anything else is checked: %s', async (operation) => {
    for (const token of [null, 'nonsense', world.credentials.apiKey]) {
      const { status, json } = await call(operation, {}, { token })
      expect([status, json.code]).toEqual([401, 'UNAUTHENTICATED'])
    }
  })

  it('is refused with another signature, issuer, audience or algorithm, and after its end', async () => {
    expect((await call('GET path', { path: '/' }, { token: await sign({}) })).status).toBe(200)
    const past = Math.floor(Date.now() / 1000) - 100
    const wrong = [
      await sign({}, new Uint8Array(32)),
      await sign({}, deriveKey(api.ctx.installation.tokenSeed, 'upload links')),
      await sign({}, new Uint8Array(64), 'HS512'),
      await sign({ iss: 'https://api.elsewhere' }),
      await sign({ aud: 'https://api.elsewhere' }),
      await sign({ exp: past }),
      await sign({ exp: undefined }),
      await sign({ nbf: past + 1000 }),
      await sign({ sub: 'x' }),
      await sign({ volid: undefined }),
      await sign({ acc: 'x' }),
      await sign({ by: undefined }),
      await sign({ by: {} }),
      await sign({ by: { key: 'x' } }),
      unsigned({ volid: volume.volumeID }),
    ]
    for (const token of wrong) expect((await call('GET path', { path: '/' }, { token })).status, token).toBe(401)
  })

  it.each(OPERATIONS)('opens no other volume, also not one of its own team: %s', async (operation) => {
    const other = await addVolume()
    const { status, json } = await call(operation, { path: '/x' }, { of: other.volumeID })
    expect([status, json.code]).toEqual([403, 'FORBIDDEN'])
  })

  it('opens nothing of another team, whatever team it names', async () => {
    const stranger = await addCaller(world, api, 'Strangers')
    const token = await sign({ sub: stranger.teamId })
    expect((await call('GET path', { path: '/' }, { token })).json).toEqual({ code: 'VOLUME_NOT_FOUND', message: 'Volume not found' })
  })

  it('that only reads changes nothing', async () => {
    const grant = { teamId: world.teamId, volumeId: volume.volumeID, access: 'r', grantor: { isAdmin: true } } as const
    const token = await issueContentToken(api.ctx.view, grant, { type: 'fake' })
    for (const operation of OPERATIONS) {
      const { status } = await call(operation, { path: '/' }, { token, ...(operation === 'PUT file' && { body: 'x' }) })
      expect(status === 403, operation).toBe(!operation.startsWith('GET'))
    }
  })

  it('ends with the key that asked for it, and with the access token or the membership of its user', async () => {
    const { db } = world.database
    const caller = await addCaller(world, api, 'Leaving')
    const { body: made } = await caller.withKey('POST', '/volumes', { name: 'data' })
    const asUser = { 'x-team-id': caller.teamId }
    const asked = async (headers: Record<string, string>) =>
      (await api.call('GET', `/volumes/${made.volumeID}`, { apiKey: null, headers })).body.token as string
    const issue = async (url: string, body: object) => (await caller.withToken('POST', url, body, asUser)).body
    const ended = await issue('/api-keys', { name: 'ends' })
    const kept = await issue('/api-keys', { name: 'stays' })
    const second = await issue('/access-tokens', { name: 'ends' })
    const tokens = {
      ofKey: await asked({ 'x-api-key': ended.key }),
      ofKept: await asked({ 'x-api-key': kept.key }),
      ofToken: await asked({ authorization: `Bearer ${second.token}`, ...asUser }),
      ofUser: await asked({ authorization: `Bearer ${caller.accessToken}`, ...asUser }),
      ofAdmin: await asked({ 'x-admin-token': ADMIN_TOKEN, ...asUser }),
    }
    const read = async () => {
      const answers = Object.entries(tokens).map(async ([name, token]) => {
        const { status } = await call('GET path', { path: '/' }, { token, of: made.volumeID })
        return [name, status] as const
      })
      return Object.fromEntries(await Promise.all(answers))
    }
    expect(await read()).toEqual({ ofKey: 200, ofKept: 200, ofToken: 200, ofUser: 200, ofAdmin: 200 })
    await db.deleteFrom('api_key').where('id', '=', ended.id).execute()
    await db
      .updateTable('access_token')
      .set({ expires_at: new Date(0) })
      .where('id', '=', second.id)
      .execute()
    expect(await read()).toEqual({ ofKey: 401, ofKept: 200, ofToken: 401, ofUser: 200, ofAdmin: 200 })
    await db.deleteFrom('team_member').where('user_id', '=', caller.userId).execute()
    expect(await read()).toEqual({ ofKey: 401, ofKept: 200, ofToken: 401, ofUser: 401, ofAdmin: 200 })
  })

  it('ends no later than the credential that asked for it', async () => {
    const expiresAt = new Date(Date.now() + 600_000)
    const headers = { authorization: `Bearer ${world.credentials.accessToken}`, 'x-team-id': world.teamId }
    const { body: key } = await api.call('POST', '/api-keys', {
      apiKey: null,
      headers,
      body: { name: 'short', expiresAt: expiresAt.toISOString() },
    })
    const { body } = await api.call('GET', `/volumes/${volume.volumeID}`, { apiKey: key.key })
    expect(decodeJwt(body.token).exp).toBe(Math.floor(expiresAt.getTime() / 1000))
  })

  it('ends with its volume, and with a block or a ban of its team', async () => {
    const caller = await addCaller(world, api, 'Blocked')
    const { body } = await caller.withKey('POST', '/volumes', { name: 'data' })
    const read = () => call('GET path', { path: '/' }, { token: body.token, of: body.volumeID })
    const set = (change: object) => world.database.db.updateTable('team').set(change).where('id', '=', caller.teamId).execute()
    expect((await read()).status).toBe(200)
    await set({ is_blocked: true, blocked_reason: 'unpaid' })
    expect((await read()).json).toEqual({ code: 'FORBIDDEN', message: 'team is blocked: unpaid' })
    await set({ is_banned: true })
    expect((await read()).json).toEqual({ code: 'FORBIDDEN', message: 'team is banned' })
    await set({ is_banned: false, is_blocked: false })
    await caller.withKey('DELETE', `/volumes/${body.volumeID}`)
    expect((await read()).json).toEqual({ code: 'VOLUME_NOT_FOUND', message: 'Volume not found' })
  })
})

describe('the file service of a volume', () => {
  it('is started again when it has ended', async () => {
    const path = newPath()
    await put(path, 'kept')
    await world.engine.volumes.stopService(`fake/${volume.volumeID}`)
    expect((await call('GET file', { path })).text).toBe('kept')
  })

  it('is started once for requests that come together', async () => {
    const own = await addVolume()
    const opens = () => api.runtime.faults.calls.filter((point) => point === 'volumes.open').length
    const before = opens()
    const ask = () => call('GET path', { path: '/' }, { token: own.token, of: own.volumeID })
    const answers = await Promise.all(Array.from({ length: 8 }, ask))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(opens() - before).toBe(1)
  })

  it('is started for a volume that the engine does not have yet', async () => {
    const own = await addVolume()
    await world.engine.volumes.remove(`fake/${own.volumeID}`)
    expect((await call('GET path', { path: '/' }, { token: own.token, of: own.volumeID })).status).toBe(200)
  })

  it('that does not start is a 503, and the next request tries again', async () => {
    const own = await addVolume()
    const ask = () => call('GET path', { path: '/' }, { token: own.token, of: own.volumeID })
    api.runtime.faults.failBefore('volumes.open', new AppError('unavailable', 'The engine cannot be reached.'))
    expect((await ask()).json).toEqual({ code: 'UNAVAILABLE', message: 'The engine cannot be reached.' })
    expect((await ask()).status).toBe(200)
  })
})

it('records who has changed the content of a volume', async () => {
  const path = newPath()
  await put(path, 'hello')
  const rows = await world.database.db
    .selectFrom('audit')
    .select(['team_id', 'status'])
    .where('operation', '=', 'putVolumeFile')
    .where('team_id', '=', world.teamId)
    .where('status', '=', 201)
    .execute()
  expect(rows.length).toBeGreaterThan(0)
})
